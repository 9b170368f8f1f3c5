{{- define "store-directory.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end -}}

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
