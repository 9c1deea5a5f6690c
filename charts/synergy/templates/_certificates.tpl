{{- define "synergy.webhookSecret" -}}
{{- $certificate := .Values.webhook.certificate -}}
{{- if eq $certificate.mode "provided" -}}
{{- required "webhook.certificate.secretName: missing. mode=provided needs your own certificate: create a Secret of type kubernetes.io/tls in the release's namespace, set its name here and its authority in webhook.certificate.caBundle; or let the chart generate a certificate with mode=generated" $certificate.secretName -}}
{{- else -}}
{{- include "synergy.component" (list . "controller-tls") -}}
{{- end -}}
{{- end -}}

{{/* Where the node agents' certificate is; empty: nowhere, and their progress is not asked for. */}}
{{- define "synergy.agentSecret" -}}
{{- if include "synergy.runs" (list . "node-agent") -}}
{{- if eq .Values.webhook.certificate.mode "provided" -}}
{{- .Values.nodeAgent.certificate.secretName -}}
{{- else -}}
{{- include "synergy.component" (list . "node-agent-tls") -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Whom a component's certificate names: (list $ "controller") */}}
{{- define "synergy.serverName" -}}
{{- printf "%s.%s.svc" (include "synergy.component" .) (first .).Release.Namespace -}}
{{- end -}}

{{/* The certificates that the chart made, of one authority, as YAML: those of the release before, unless they end in less than 30 days or one
     that is needed is missing. */}}
{{- define "synergy.generatedCertificates" -}}
{{- $soon := add (now | unixEpoch | int64) 2592000 -}}
{{- $old := lookup "v1" "Secret" .Release.Namespace (include "synergy.webhookSecret" .) | default dict -}}
{{- $expiry := dig "metadata" "annotations" "synergy.io/expires" "0" $old -}}
{{- $ca := dig "data" "ca.crt" "" $old -}}
{{- $agents := dict -}}
{{- with include "synergy.agentSecret" . }}{{ $agents = lookup "v1" "Secret" $.Release.Namespace . | default dict }}{{ end -}}
{{- $complete := or (not (include "synergy.agentSecret" .)) (eq (dig "data" "ca.crt" "none" $agents) $ca) -}}
{{- if and $ca $complete (gt ($expiry | int64) $soon) -}}
{{- dict "ca" $ca "expires" $expiry "controller" (pick $old.data "tls.crt" "tls.key") "agent" (pick (default dict $agents.data) "tls.crt" "tls.key") | toYaml -}}
{{- else -}}
{{- $days := .Values.webhook.certificate.validityDays | int -}}
{{- $made := genCAWithKey (printf "%s-ca" (include "synergy.component" (list . "controller"))) $days (genPrivateKey "ecdsa") -}}
{{- $service := include "synergy.serverName" (list . "controller") -}}
{{- $agent := include "synergy.serverName" (list . "node-agent") -}}
{{- $controllers := genSignedCertWithKey $service nil (list $service (printf "%s.cluster.local" $service)) $days $made (genPrivateKey "ecdsa") -}}
{{- $agents := genSignedCertWithKey $agent nil (list $agent) $days $made (genPrivateKey "ecdsa") -}}
{{- dict "ca" (b64enc $made.Cert) "expires" (add (now | unixEpoch | int64) (mul 86400 $days) | toString)
    "controller" (dict "tls.crt" (b64enc $controllers.Cert) "tls.key" (b64enc $controllers.Key))
    "agent" (dict "tls.crt" (b64enc $agents.Cert) "tls.key" (b64enc $agents.Key)) | toYaml -}}
{{- end -}}
{{- end -}}
