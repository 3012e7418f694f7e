{{- define "crawlward.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{/* The names of all objects begin with this. */}}
{{- define "crawlward.fullname" -}}
{{- $name := include "crawlward.name" . -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else if contains $name .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "crawlward.selector" -}}
app.kubernetes.io/name: {{ include "crawlward.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "crawlward.labels" -}}
{{ include "crawlward.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{/* The reference of an image: dict "root" . "image" .Values.….image */}}
{{- define "crawlward.image" -}}
{{- $registry := required "image.registry is required: the registry that has your images of Crawlward, such as registry.example/team" .root.Values.image.registry -}}
{{- $name := printf "%s/%s" $registry .image.repository -}}
{{- if .image.digest -}}
{{- printf "%s@%s" $name .image.digest -}}
{{- else -}}
{{- printf "%s:%s" $name (.image.tag | default .root.Chart.AppVersion) -}}
{{- end -}}
{{- end -}}

{{- define "crawlward.pullSecrets" -}}
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- end -}}

{{/*
The document as JSON: the one in the values, with the feeds and the key directories of the catalog that it does not name
itself.
*/}}
{{- define "crawlward.document" -}}
{{- $document := deepCopy .Values.policy.document -}}
{{- if and .Values.updater.enabled .Values.updater.catalogFeeds -}}
{{- $feeds := $document.feeds | default list -}}
{{- $names := list -}}
{{- range $feeds }}{{ $names = append $names .name }}{{ end -}}
{{- range .Files.Get "files/catalog-feeds.json" | fromJsonArray -}}
{{- if not (has .name $names) }}{{ $feeds = append $feeds . }}{{ end -}}
{{- end -}}
{{- $document = set $document "feeds" $feeds -}}
{{- $agents := $document.agents | default list -}}
{{- $byToken := dict -}}
{{- range $agents }}{{ $byToken = set $byToken (lower .token) . }}{{ end -}}
{{- range .Files.Get "files/catalog-agents.json" | fromJsonArray -}}
{{- $own := get $byToken (lower .token) -}}
{{- if not $own }}{{ $agents = append $agents . -}}
{{- else if not (hasKey $own "keys") }}{{ $_ := set $own "keys" .keys }}{{ end -}}
{{- end -}}
{{- $document = set $document "agents" $agents -}}
{{- end -}}
{{- toPrettyJson $document -}}
{{- end -}}

{{/*
The document with its files in it, for the Wasm filter: dict "root" . "live" (the document in the cluster, or an empty dict).
The updater adds the feeds and keys that it fetches. They stay if the release is upgraded.
*/}}
{{- define "crawlward.inlined" -}}
{{- $document := include "crawlward.document" .root | fromJson -}}
{{- $files := $document.files | default dict -}}
{{- if .root.Values.updater.enabled -}}
{{- $fetched := list -}}
{{- range $document.feeds }}{{ $fetched = append $fetched .source }}{{ end -}}
{{- range $document.agents }}{{ range .keys }}{{ $fetched = append $fetched .source }}{{ end }}{{ end -}}
{{- range $fetched -}}
{{- $live := index ($.live.files | default dict) . -}}
{{- if $live }}{{ $files = set $files . $live }}{{ end -}}
{{- end -}}
{{- end -}}
{{- range $name, $text := .root.Values.policy.files -}}
{{- $files = set $files $name (dict "text" $text) -}}
{{- end -}}
{{- toJson (set $document "files" $files) -}}
{{- end -}}

{{/* The file that gates with a file system read, from the volume below. */}}
{{- define "crawlward.configFile" -}}
/etc/crawlward/{{ .Values.updater.enabled | ternary "crawlward.bin.gz" "crawlward.json" }}
{{- end -}}

{{/* The volume of these gates. With `items`, a pod waits until the updater has written the ruleset for the first time. */}}
{{- define "crawlward.configVolume" -}}
{{- include "crawlward.volume" (dict "root" . "key" "crawlward.bin.gz") -}}
{{- end -}}

{{/*
The same for nginx, which takes a new document only when it starts, and everything else while it runs: the name of the key
stands for a document and a version. New pods wait for the ruleset of theirs.
*/}}
{{- define "crawlward.nginx.configVolume" -}}
{{- include "crawlward.volume" (dict "root" . "key" (include "crawlward.nginx.key" .)) -}}
{{- end -}}

{{- define "crawlward.nginx.key" -}}
crawlward-{{ printf "%s %s" .Chart.AppVersion (include "crawlward.document" .) | sha256sum | trunc 10 }}.bin.gz
{{- end -}}

{{- define "crawlward.volume" -}}
name: crawlward
configMap:
  {{- if .root.Values.updater.enabled }}
  name: {{ include "crawlward.fullname" .root }}-ruleset
  items:
    - { key: {{ .key }}, path: crawlward.bin.gz }
  {{- else }}
  name: {{ include "crawlward.fullname" .root }}-policy
  {{- end }}
{{- end -}}

{{- define "crawlward.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}
