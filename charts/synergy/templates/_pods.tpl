{{/* Returns the fields that every pod has: (list $ "controller" $values.controller) */}}
{{- define "synergy.pod" -}}
{{- $root := index . 0 -}}
{{- $values := index . 2 -}}
serviceAccountName: {{ include "synergy.serviceAccountName" . }}
{{- with $root.Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
nodeSelector:
  {{- merge (deepCopy $values.nodeSelector) (dict "kubernetes.io/os" "linux") | toYaml | nindent 2 }}
{{- with $values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.podSecurityContext }}
securityContext:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* Returns the fields of the scheduler's and the controller's pods, which are spread: (list $ "controller" $values.controller) */}}
{{- define "synergy.replicatedPod" -}}
{{- $root := index . 0 -}}
{{ include "synergy.pod" . }}
{{- with include "synergy.priorityClassName" $root }}
priorityClassName: {{ . }}
{{- end }}
topologySpreadConstraints:
  {{- with (index . 2).topologySpreadConstraints }}
  {{- toYaml . | nindent 2 }}
  {{- else }}
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "synergy.selector" (list $root (index . 1)) | nindent 8 }}
  {{- end }}
{{- end -}}

{{/* Returns what the values add to a list, if anything: (list $values.controller.extraVolumes 6) */}}
{{- define "synergy.more" -}}
{{- with first . }}
{{- toYaml . | nindent (last $) }}
{{- end }}
{{- end -}}

{{/* Returns the environment of a container if only the values set it: (list $values.controller 8) */}}
{{- define "synergy.environment" -}}
{{- with (first .).extraEnv }}
{{- dict "env" . | toYaml | nindent (last $) }}
{{- end }}
{{- end -}}

{{/* Returns a pod's labels: (list $ "controller" $values.controller) */}}
{{/* They lack the chart's version, so that an upgrade that changes nothing of a pod does not replace it. */}}
{{- define "synergy.podLabels" -}}
{{ include "synergy.selector" (list (index . 0) (index . 1)) }}
app.kubernetes.io/part-of: synergy
{{- with (index . 0).Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- with (index . 2).podLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* Returns one of Synergy's own service accounts: (list $ "controller" $values.controller) */}}
{{- define "synergy.serviceAccount" -}}
{{- $account := (index . 2).serviceAccount -}}
{{- if $account.create -}}
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ include "synergy.serviceAccountName" . }}
  namespace: {{ (first .).Release.Namespace }}
  {{- include "synergy.marks" (list (index . 0) (index . 1) $account.annotations) | nindent 2 }}
{{- end }}
{{- end -}}

{{/* Returns the subjects to which a role is bound: (list $ "controller" $values.controller) */}}
{{- define "synergy.subjects" -}}
subjects:
- kind: ServiceAccount
  name: {{ include "synergy.serviceAccountName" . }}
  namespace: {{ (first .).Release.Namespace }}
{{- end -}}

{{- define "synergy.extenderContainer" -}}
- name: extender
  image: {{ include "synergy.image" (list . .Values.extender) }}
  imagePullPolicy: {{ .Values.image.pullPolicy }}
  args: {{ concat (list "--config" "/etc/synergy/extender.yaml" "--probe-socket" "synergy-extender") .Values.extender.extraArgs | toJson }}
  {{- include "synergy.environment" (list .Values.extender 2) }}
  ports:
  - {name: http, containerPort: 8889}
  startupProbe:
    {{ include "synergy.probe" (list "synergy-extender" "ready") }}
    periodSeconds: 1
    # A first list of 150,000 pods from a busy API server takes its time.
    failureThreshold: 600
    timeoutSeconds: 5
  livenessProbe:
    {{ include "synergy.probe" (list "synergy-extender" "health") }}
    timeoutSeconds: 10
    failureThreshold: 6
  readinessProbe:
    {{ include "synergy.probe" (list "synergy-extender" "ready") }}
    periodSeconds: 5
    timeoutSeconds: 5
  resources:
    {{- toYaml .Values.extender.resources | nindent 4 }}
  securityContext:
    {{- toYaml .Values.extender.securityContext | nindent 4 }}
  volumeMounts:
  - {name: config, mountPath: /etc/synergy, readOnly: true}
  {{- include "synergy.more" (list .Values.extender.extraVolumeMounts 2) }}
{{- end -}}
