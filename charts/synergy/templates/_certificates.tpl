{{- define "synergy.webhookSecret" -}}
{{- $certificate := .Values.webhook.certificate -}}
{{- if eq $certificate.mode "provided" -}}
{{- required "webhook.certificate.secretName: which Secret has tls.crt and tls.key? (mode provided)" $certificate.secretName -}}
{{- else -}}
{{- include "synergy.component" (list . "controller-tls") -}}
{{- end -}}
{{- end -}}

{{/* The certificate that the chart made, as YAML: that of the release before, unless it ends in less than 30 days. */}}
{{- define "synergy.generatedCertificate" -}}
{{- $soon := add (now | unixEpoch | int64) 2592000 -}}
{{- $old := lookup "v1" "Secret" .Release.Namespace (include "synergy.webhookSecret" .) -}}
{{- $expiry := dig "metadata" "annotations" "synergy.io/expires" "0" (default dict $old) -}}
{{- if and $old (gt ($expiry | int64) $soon) (hasKey (default dict $old.data) "ca.crt") -}}
{{- dict "ca" (index $old.data "ca.crt") "certificate" (index $old.data "tls.crt") "key" (index $old.data "tls.key")
    "expires" $expiry | toYaml -}}
{{- else -}}
{{- $days := .Values.webhook.certificate.validityDays | int -}}
{{- $service := include "synergy.component" (list . "controller") -}}
{{- $names := list (printf "%s.%s.svc" $service .Release.Namespace) (printf "%s.%s.svc.cluster.local" $service .Release.Namespace) -}}
{{- $ca := genCA (printf "%s-ca" $service) $days -}}
{{- $made := genSignedCert (first $names) nil $names $days $ca -}}
{{- dict "ca" (b64enc $ca.Cert) "certificate" (b64enc $made.Cert) "key" (b64enc $made.Key)
    "expires" (add (now | unixEpoch | int64) (mul 86400 $days) | toString) | toYaml -}}
{{- end -}}
{{- end -}}
