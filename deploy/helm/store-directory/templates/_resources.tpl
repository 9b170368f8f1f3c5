{{/* The rule of docs/operating.md#sizing, with the figures that `make bench-sizing` measured, in MiB. */}}
{{- define "store-directory.memory" -}}
{{- $rule := .Files.Get "files/sizing.json" | fromJson -}}
{{- $mib := mul .Values.workers $rule.worker_mib -}}
{{- $bytes := add $rule.baked_bytes_per_store (mul .Values.workers $rule.worker_bytes_per_store) -}}
{{- if gt (int .Values.workers) 1 -}}
{{- $mib = add $mib $rule.parent_mib -}}
{{- end -}}
{{- if .Values.data.sidecar -}}
{{- $mib = add $mib $rule.compile_mib -}}
{{- $bytes = add $bytes $rule.compile_bytes_per_store -}}
{{- end -}}
{{- add $mib (div (mul .Values.stores $bytes) 1048576) 1 -}}
{{- end -}}

{{- define "store-directory.resources" -}}
{{- $rule := .Files.Get "files/sizing.json" | fromJson -}}
{{- $connections := div (add (mul .Values.maxConnections $rule.bytes_per_connection) 1048575) 1048576 -}}
{{- $most := add $rule.cache_mib $rule.held_mib $connections -}}
{{- $memory := include "store-directory.memory" . | int -}}
requests:
  cpu: {{ .Values.autoscaling.enabled | ternary .Values.workers (printf "%dm" (mul 100 .Values.workers)) | quote }}
  memory: {{ $memory }}Mi
limits:
  memory: {{ add $memory (mul .Values.workers $most) }}Mi
{{- end -}}

{{/* Two copies of the data during a reload, the last good copy of a URL, and a download or temporary files. */}}
{{- define "store-directory.cacheSize" -}}
{{- $rule := .Files.Get "files/sizing.json" | fromJson -}}
{{- add 64 (div (mul 4 .Values.stores $rule.baked_bytes_per_store) 1048576) -}}Mi
{{- end -}}
