{{/* What is the same in a WasmPlugin and in the `wasm` of a TrafficExtension: dict "root" . "live" (see crawlpike.inlined) */}}
{{- define "crawlpike.istio.wasm" -}}
{{- $wasm := .root.Values.istio.wasm -}}
url: oci://{{ include "crawlpike.image" (dict "root" .root "image" $wasm.image) }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
{{- with $wasm.pullSecret }}
imagePullSecret: {{ . }}
{{- end }}
type: HTTP
# The root id of the filter.
pluginName: crawlpike
failStrategy: {{ $wasm.failStrategy }}
pluginConfig:
  {{- include "crawlpike.inlined" . | fromJson | mustToYaml | nindent 2 }}
{{- end -}}

{{/* Which proxies: those of a Gateway, or those with labels. */}}
{{- define "crawlpike.istio.target" -}}
{{- if .Values.istio.gateway -}}
targetRefs:
  - group: gateway.networking.k8s.io
    kind: Gateway
    name: {{ .Values.istio.gateway }}
{{- else -}}
selector:
  matchLabels:
    {{- mustToYaml .Values.istio.selector | nindent 4 }}
{{- end }}
{{- end -}}
