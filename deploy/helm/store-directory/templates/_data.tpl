{{/* What `--data` names. */}}
{{- define "store-directory.data" -}}
{{- with .Values.data.image }}/data/{{ .file | default "stores.baked" }}{{ end -}}
{{- with .Values.data.http }}{{ .url }}{{ end -}}
{{- with .Values.data.objectStore }}{{ .url }}{{ end -}}
{{- with .Values.data.sidecar }}/data/{{ .path | default "directory" }}{{ end -}}
{{- end -}}

{{/* The Secret with credentials for the source, or nothing: a missing key would be the text `<no value>`. */}}
{{- define "store-directory.credentials" -}}
{{- with .Values.data.http }}{{ .netrcSecret | default "" }}{{ end -}}
{{- with .Values.data.objectStore }}{{ .credentialsSecret | default "" }}{{ end -}}
{{- end -}}

{{- define "store-directory.environment" -}}
- {name: TMPDIR, value: /cache}
{{- with .Values.data.http }}
{{- if .netrcSecret }}
- {name: NETRC, value: /etc/store-directory/credentials/netrc}
{{- end }}
{{- end }}
{{- with .Values.data.objectStore }}
{{- if and .credentialsSecret (hasPrefix "s3:" .url) }}
- {name: AWS_SHARED_CREDENTIALS_FILE, value: /etc/store-directory/credentials/credentials}
- {name: AWS_PROFILE, value: default}
{{- end }}
{{- if and .credentialsSecret (hasPrefix "gs:" .url) }}
- {name: GOOGLE_APPLICATION_CREDENTIALS, value: /etc/store-directory/credentials/credentials}
{{- end }}
{{- with .region }}
- {name: AWS_REGION, value: {{ . | quote }}}
{{- end }}
{{- with .endpoint }}
- {name: AWS_ENDPOINT_URL_S3, value: {{ . | quote }}}
{{- if hasPrefix "http:" . }}
- {name: AWS_ALLOW_HTTP, value: "true"}
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{/* The TCP port of the source, or nothing. */}}
{{- define "store-directory.sourcePort" -}}
{{- $url := "" -}}
{{- with .Values.data.http }}{{ $url = .url }}{{ end -}}
{{- with .Values.data.objectStore }}{{ $url = .endpoint | default "https:" }}{{ end -}}
{{- if $url -}}
{{- regexFind ":[0-9]+$" (urlParse $url).host | trimPrefix ":" | default (hasPrefix "http:" $url | ternary "80" "443") -}}
{{- end -}}
{{- end -}}
