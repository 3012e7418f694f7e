{{/* What is the same in a WasmPlugin and in the `wasm` of a TrafficExtension: dict "root" . "live" (see crawlward.inlined) */}}
{{- define "crawlward.istio.wasm" -}}
{{- $wasm := .root.Values.istio.wasm -}}
url: oci://{{ include "crawlward.image" (dict "root" .root "image" $wasm.image) }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
{{- with $wasm.pullSecret }}
imagePullSecret: {{ . }}
{{- end }}
type: HTTP
# The root id of the filter.
pluginName: crawlward
failStrategy: {{ $wasm.failStrategy }}
pluginConfig:
  {{- include "crawlward.inlined" . | fromJson | toYaml | nindent 2 }}
{{- end -}}

{{/* Which proxies: those of a Gateway, or those with labels. */}}
{{- define "crawlward.istio.target" -}}
{{- if .Values.istio.gateway -}}
targetRefs:
  - group: gateway.networking.k8s.io
    kind: Gateway
    name: {{ .Values.istio.gateway }}
{{- else -}}
selector:
  matchLabels:
    {{- toYaml .Values.istio.selector | nindent 4 }}
{{- end }}
{{- end -}}
