{{- define "crawlpike.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{/* The names of all objects begin with this. */}}
{{- define "crawlpike.fullname" -}}
{{- $name := include "crawlpike.name" . -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else if contains $name .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "crawlpike.selector" -}}
app.kubernetes.io/name: {{ include "crawlpike.name" . | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end -}}

{{- define "crawlpike.labels" -}}
{{ include "crawlpike.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{/* The reference of an image: dict "root" . "image" .Values.….image */}}
{{- define "crawlpike.image" -}}
{{- $registry := required "image.registry is required: the registry that has your images of Crawlpike, such as registry.example/team" .root.Values.image.registry -}}
{{- $name := printf "%s/%s" $registry .image.repository -}}
{{- if .image.digest -}}
{{- printf "%s@%s" $name .image.digest -}}
{{- else -}}
{{- printf "%s:%s" $name (.image.tag | default .root.Chart.AppVersion) -}}
{{- end -}}
{{- end -}}

{{- define "crawlpike.pullSecrets" -}}
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
{{- define "crawlpike.document" -}}
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
{{- if .Values.updater.enabled -}}
{{- $fetched := list -}}
{{- range concat ($document.feeds | default list) ($document.networks | default list) -}}
{{- if .url }}{{ $fetched = append $fetched .source }}{{ end -}}
{{- end -}}
{{- range $document.agents }}{{ range .keys }}{{ $fetched = append $fetched .source }}{{ end }}{{ end -}}
{{- range $document.sites -}}
{{- if .robots_txt_url }}{{ $fetched = append $fetched .robots_txt }}{{ end -}}
{{- if .automation_preferences_url }}{{ $fetched = append $fetched .automation_preferences }}{{ end -}}
{{- end -}}
{{- range $fetched -}}
{{- $path := . | default "" | toString -}}
{{- if not (hasPrefix "/var/lib/crawlpike/" (clean $path)) }}{{ fail (printf "policy.document: the updater fetches %q and cannot write it there: put it into /var/lib/crawlpike/" $path) }}{{ end -}}
{{- end -}}
{{- end -}}
{{- toPrettyJson $document -}}
{{- end -}}

{{/*
The document with its files in it, for the Wasm filter: dict "root" . "live" (the document in the cluster, or an empty dict).
The updater adds the files that it fetches. They stay if the release is upgraded.
*/}}
{{- define "crawlpike.inlined" -}}
{{- $document := include "crawlpike.document" .root | fromJson -}}
{{- $files := $document.files | default dict -}}
{{- if .root.Values.updater.enabled -}}
{{- range $name, $file := .live.files -}}
{{- if hasPrefix "/var/lib/crawlpike/" $name }}{{ $files = set $files $name $file }}{{ end -}}
{{- end -}}
{{- end -}}
{{- range $name, $text := .root.Values.policy.files -}}
{{- $files = set $files $name (dict "text" $text) -}}
{{- end -}}
{{- toJson (set $document "files" $files) -}}
{{- end -}}

{{/* The file that gates with a file system read, from the volume below. */}}
{{- define "crawlpike.configFile" -}}
/etc/crawlpike/{{ .Values.updater.enabled | ternary "crawlpike.bin.gz" "crawlpike.json" }}
{{- end -}}

{{/* The volume of these gates. With `items`, a pod waits until the updater has written the ruleset for the first time. */}}
{{- define "crawlpike.configVolume" -}}
{{- include "crawlpike.volume" (dict "root" . "key" "crawlpike.bin.gz") -}}
{{- end -}}

{{/*
The same for nginx, which takes a new document only when it starts, and everything else while it runs: the name of the key
stands for a document and a version. New pods wait for the ruleset of theirs.
*/}}
{{- define "crawlpike.nginx.configVolume" -}}
{{- include "crawlpike.volume" (dict "root" . "key" (include "crawlpike.nginx.key" .)) -}}
{{- end -}}

{{- define "crawlpike.nginx.key" -}}
crawlpike-{{ printf "%s %s" .Chart.AppVersion (include "crawlpike.document" .) | sha256sum | trunc 10 }}.bin.gz
{{- end -}}

{{- define "crawlpike.volume" -}}
name: crawlpike
configMap:
  {{- if .root.Values.updater.enabled }}
  name: {{ include "crawlpike.fullname" .root }}-ruleset
  items:
    - { key: {{ .key }}, path: crawlpike.bin.gz }
  {{- else }}
  name: {{ include "crawlpike.fullname" .root }}-policy
  {{- end }}
{{- end -}}

{{- define "crawlpike.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}
