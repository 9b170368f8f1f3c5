{{/* The Secrets that are mounted, whole folders, so that changes of them arrive: volume to Secret. */}}
{{- define "store-directory.secrets" -}}
{{- with .Values.auth.secret }}
keys: {{ . }}
{{- end }}
{{- with .Values.settingsSecret }}
settings: {{ . }}
{{- end }}
{{- with include "store-directory.credentials" . }}
credentials: {{ . }}
{{- end }}
{{- end -}}

{{/* Fails with one line for what is missing, and for what is passed through although the chart sets it. */}}
{{- define "store-directory.checked" -}}
{{- if not (or .Values.demo (and .Values.data .Values.auth)) -}}
{{- fail "set `data` (such as data.http.url) and `auth` (such as auth.secret), or demo=true for made-up data without a key" -}}
{{- end -}}
{{- if and .Values.demo (or .Values.data .Values.auth) -}}
{{- fail "demo=true serves the bundled data without a key: leave out `data` and `auth`" -}}
{{- end -}}
{{- range .Values.extraArgs -}}
{{- $name := regexFind "^--[a-z-]+" . | trimPrefix "--" -}}
{{- if has $name (list "data" "cache" "host" "port" "uds" "admin" "workers" "max-connections" "drain" "min-stores" "key-file" "no-auth" "config") -}}
{{- fail (printf "extraArgs: the chart sets --%s" $name) -}}
{{- end -}}
{{- if eq $name "api-key" -}}
{{- fail "extraArgs: --api-key would be readable in the pod; use auth.secret" -}}
{{- end -}}
{{- end -}}
{{- $set := include "store-directory.environment" . | fromYamlArray -}}
{{- range .Values.extraEnv -}}
{{- $name := .name -}}
{{- range $set -}}
{{- if eq .name $name -}}
{{- fail (printf "extraEnv: the chart sets %s" $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $volumes := list "cache" "data" "keys" "settings" "credentials" -}}
{{- range .Values.extraVolumes -}}
{{- if has .name $volumes -}}
{{- fail (printf "extraVolumes: the chart has a volume %s" .name) -}}
{{- end -}}
{{- end -}}
{{- range .Values.extraVolumeMounts -}}
{{- if regexMatch "^/(cache|data|etc/store-directory/(keys|settings|credentials))(/|$)" (.mountPath | default "") -}}
{{- fail (printf "extraVolumeMounts: the chart mounts %s" .mountPath) -}}
{{- end -}}
{{- end -}}
{{- range $name, $_ := include "store-directory.selector" . | fromYaml -}}
{{- if hasKey $.Values.podLabels $name -}}
{{- fail (printf "podLabels: the chart sets %s" $name) -}}
{{- end -}}
{{- end -}}
{{- range $probe := tuple "startupProbe" "livenessProbe" "readinessProbe" -}}
{{- range $action := tuple "httpGet" "exec" "tcpSocket" "grpc" -}}
{{- if hasKey (get $.Values $probe) $action -}}
{{- fail (printf "%s: the chart sets what is asked; only timings can be set" $probe) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
