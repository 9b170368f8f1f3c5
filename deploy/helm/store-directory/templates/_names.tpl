{{- define "store-directory.name" -}}
{{- $chart := .Values.nameOverride | default .Chart.Name -}}
{{- $name := contains $chart .Release.Name | ternary .Release.Name (printf "%s-%s" .Release.Name $chart) -}}
{{- .Values.fullnameOverride | default $name | trunc 55 | trimSuffix "-" -}}
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
{{- .Values.serviceAccount.name | default (.Values.serviceAccount.create | ternary (include "store-directory.name" .) "default") -}}
{{- end -}}
