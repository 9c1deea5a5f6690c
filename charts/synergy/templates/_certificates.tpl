{{- define "synergy.webhookSecret" -}}
{{- $certificate := .Values.webhook.certificate -}}
{{- if eq $certificate.mode "provided" -}}
{{- required "webhook.certificate.secretName: missing. mode=provided needs your own certificate: create a Secret of type kubernetes.io/tls in the release's namespace, set its name here and its authority in webhook.certificate.caBundle; or let the controller make the certificate with mode=own" $certificate.secretName -}}
{{- else if eq $certificate.mode "own" -}}
{{- include "synergy.component" (list . "controller-certificate") -}}
{{- else -}}
{{- include "synergy.component" (list . "controller-tls") -}}
{{- end -}}
{{- end -}}

{{/* Returns the Secret with the node agents' certificate. Empty: there is none, and the controller does not ask for progress. */}}
{{- define "synergy.agentSecret" -}}
{{- if include "synergy.runs" (list . "node-agent") -}}
{{- if eq .Values.webhook.certificate.mode "provided" -}}
{{- .Values.nodeAgent.certificate.secretName -}}
{{- else if eq .Values.webhook.certificate.mode "own" -}}
{{- include "synergy.component" (list . "node-agent-certificate") -}}
{{- else -}}
{{- include "synergy.component" (list . "node-agent-tls") -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Returns the name in a component's certificate: (list $ "controller") */}}
{{- define "synergy.serverName" -}}
{{- printf "%s.%s.svc" (include "synergy.component" .) (first .).Release.Namespace -}}
{{- end -}}
