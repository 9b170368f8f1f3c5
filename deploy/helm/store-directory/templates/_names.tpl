{{- define "store-directory.name" -}}
{{- $name := contains .Chart.Name .Release.Name | ternary .Release.Name (printf "%s-%s" .Release.Name .Chart.Name) -}}
{{- $name | trunc 55 | trimSuffix "-" -}}
{{- end -}}

{{- define "store-directory.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "store-directory.metadata" -}}
namespace: {{ .Release.Namespace }}
labels:
  {{- include "store-directory.selector" . | nindent 2 }}
  app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
  app.kubernetes.io/managed-by: {{ .Release.Service }}
  helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end -}}

{{- define "store-directory.serviceAccount" -}}
{{- .Values.serviceAccount.name | default (include "store-directory.name" .) -}}
{{- end -}}
