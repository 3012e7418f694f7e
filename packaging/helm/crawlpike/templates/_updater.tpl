{{/*
The resources of Wasm filters, which have the document in them: a JSON array of objects with the file of the patch, the path
in it, and the resource.
*/}}
{{- define "crawlpike.updater.targets" -}}
{{- $targets := list -}}
{{- if and .Values.envoyGateway.enabled (eq .Values.envoyGateway.form "wasm") -}}
{{- $targets = append $targets (dict
      "name" "envoy-gateway" "path" "/spec/wasm/0/config"
      "group" "gateway.envoyproxy.io" "resource" "envoyextensionpolicies"
      "namespace" (.Values.envoyGateway.namespace | default .Release.Namespace)) -}}
{{- end -}}
{{- if and .Values.istio.enabled (eq .Values.istio.form "wasm") -}}
{{- $isPlugin := eq .Values.istio.wasm.api "WasmPlugin" -}}
{{- $targets = append $targets (dict
      "name" "istio" "path" ($isPlugin | ternary "/spec/pluginConfig" "/spec/wasm/pluginConfig")
      "group" "extensions.istio.io" "resource" ($isPlugin | ternary "wasmplugins" "trafficextensions")
      "namespace" .Release.Namespace) -}}
{{- end -}}
{{- toJson $targets -}}
{{- end -}}

{{/* Whether gates other than the chart's nginx read the ruleset: those of the chart, or else one that it does not know. */}}
{{- define "crawlpike.updater.isForOthers" -}}
{{- $native := false -}}
{{- range list .Values.envoyGateway .Values.istio -}}
{{- if and .enabled (eq .form "native") }}{{ $native = true }}{{ end -}}
{{- end -}}
{{- if or $native (not .Values.nginx.enabled) }}true{{ end -}}
{{- end -}}

{{/* The keys of the ConfigMap with the ruleset, as a list for kustomize. */}}
{{- define "crawlpike.updater.keys" -}}
{{- if include "crawlpike.updater.isForOthers" . }}
- crawlpike.bin.gz
{{- end }}
{{- if .Values.nginx.enabled }}
- {{ include "crawlpike.nginx.key" . }}=crawlpike.bin.gz
{{- end }}
{{- end -}}

{{/* What the updater publishes is made of these, apart from the feeds. */}}
{{- define "crawlpike.inputs" -}}
{{- include "crawlpike.document" . }}{{ toJson .Values.policy.files }}{{ include "crawlpike.updater.keys" . -}}
{{- end -}}

{{/*
The spec of a Job that fetches the feeds, compiles the ruleset, and publishes it. The containers that read what publishers
send have no token for the cluster.
*/}}
{{- define "crawlpike.updater.job" -}}
{{- $name := include "crawlpike.fullname" . -}}
{{- $image := include "crawlpike.image" (dict "root" . "image" .Values.updater.image) -}}
{{- $targets := include "crawlpike.updater.targets" . | fromJsonArray -}}
backoffLimit: 2
activeDeadlineSeconds: 1800
template:
  metadata:
    labels:
      {{- include "crawlpike.labels" . | nindent 6 }}
      app.kubernetes.io/component: updater
  spec:
    restartPolicy: Never
    serviceAccountName: {{ $name }}-updater
    automountServiceAccountToken: false
    {{- include "crawlpike.pullSecrets" . | nindent 4 }}
    securityContext:
      runAsNonRoot: true
      runAsUser: 65532
      runAsGroup: 65532
      fsGroup: 65532
      seccompProfile:
        type: RuntimeDefault
    initContainers:
      # Publish even if a feed is not current: its last good version stays in force.
      - name: update
        image: {{ $image }}
        imagePullPolicy: {{ .Values.image.pullPolicy }}
        command:
          - crawlpike
          - update
          - --config=/etc/crawlpike/crawlpike.json
          - --state=/var/lib/crawlpike/update-state
          - --best-effort
        {{- with .Values.updater.env }}
        env:
          {{- mustToYaml . | nindent 10 }}
        {{- end }}
        securityContext:
          {{- include "crawlpike.containerSecurity" . | nindent 10 }}
        resources:
          {{- mustToYaml .Values.updater.resources | nindent 10 }}
        volumeMounts:
          - { name: policy, mountPath: /etc/crawlpike, readOnly: true }
          - { name: feeds, mountPath: /var/lib/crawlpike }
          - { name: tmp, mountPath: /tmp }
      - name: compile
        image: {{ $image }}
        imagePullPolicy: {{ .Values.image.pullPolicy }}
        command:
          - crawlpike
          - compile
          - --config=/etc/crawlpike/crawlpike.json
          - --output=/work/crawlpike.bin.gz
          - --gzip
        securityContext:
          {{- include "crawlpike.containerSecurity" . | nindent 10 }}
        resources:
          {{- mustToYaml .Values.updater.resources | nindent 10 }}
        volumeMounts:
          - { name: policy, mountPath: /etc/crawlpike, readOnly: true }
          - { name: feeds, mountPath: /var/lib/crawlpike }
          - { name: work, mountPath: /work }
      {{- range $targets }}
      - name: patch-{{ .name }}
        image: {{ $image }}
        imagePullPolicy: {{ $.Values.image.pullPolicy }}
        command:
          - crawlpike
          - envoy
          - --config=/etc/crawlpike/crawlpike.json
          - --patch={{ .path }}
          - --output=/work/{{ .name }}.json
        securityContext:
          {{- include "crawlpike.containerSecurity" $ | nindent 10 }}
        resources:
          {{- mustToYaml $.Values.updater.resources | nindent 10 }}
        volumeMounts:
          - { name: policy, mountPath: /etc/crawlpike, readOnly: true }
          - { name: feeds, mountPath: /var/lib/crawlpike }
          - { name: work, mountPath: /work }
      {{- end }}
    containers:
      - name: publish
        image: {{ .Values.updater.kubectlImage }}
        imagePullPolicy: {{ .Values.image.pullPolicy }}
        command:
          - kubectl
          - apply
          - --server-side
          - --force-conflicts
          - --field-manager=crawlpike-updater
          - --cache-dir=/tmp/kubectl
          - --kustomize=/work
        {{- include "crawlpike.updater.publisher" . | nindent 8 }}
          - { name: updater, mountPath: /work/kustomization.yaml, subPath: kustomization.yaml, readOnly: true }
      {{- range $targets }}
      - name: publish-{{ .name }}
        image: {{ $.Values.updater.kubectlImage }}
        imagePullPolicy: {{ $.Values.image.pullPolicy }}
        command:
          - kubectl
          - patch
          - {{ .resource }}.{{ .group }}
          - {{ $name }}
          - --namespace={{ .namespace }}
          - --field-manager=crawlpike-updater
          - --cache-dir=/tmp/kubectl
          - --type=json
          - --patch-file=/work/{{ .name }}.json
        {{- include "crawlpike.updater.publisher" $ | nindent 8 }}
      {{- end }}
    {{- with .Values.updater.nodeSelector }}
    nodeSelector:
      {{- mustToYaml . | nindent 6 }}
    {{- end }}
    {{- with .Values.updater.tolerations }}
    tolerations:
      {{- mustToYaml . | nindent 6 }}
    {{- end }}
    volumes:
      - name: policy
        configMap:
          name: {{ $name }}-policy
      - name: updater
        configMap:
          name: {{ $name }}-updater
      - name: feeds
        persistentVolumeClaim:
          claimName: {{ .Values.updater.persistence.existingClaim | default (printf "%s-feeds" $name) }}
      - name: work
        emptyDir: { sizeLimit: 64Mi }
      - name: tmp
        emptyDir: { sizeLimit: 512Mi }
      - name: token
        projected:
          sources:
            - serviceAccountToken: { path: token, expirationSeconds: 3600 }
            - configMap:
                name: kube-root-ca.crt
                items:
                  - { key: ca.crt, path: ca.crt }
            - downwardAPI:
                items:
                  - path: namespace
                    fieldRef: { fieldPath: metadata.namespace }
{{- end -}}

{{/* What all containers with kubectl have in common; ends with the list of mounts. */}}
{{- define "crawlpike.updater.publisher" -}}
securityContext:
  {{- include "crawlpike.containerSecurity" . | nindent 2 }}
resources:
  {{- mustToYaml .Values.updater.resources | nindent 2 }}
volumeMounts:
  - { name: work, mountPath: /work }
  - { name: tmp, mountPath: /tmp }
  - { name: token, mountPath: /var/run/secrets/kubernetes.io/serviceaccount, readOnly: true }
{{- end -}}
