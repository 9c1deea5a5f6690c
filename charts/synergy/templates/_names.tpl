{{- define "synergy.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{- define "synergy.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- $name := include "synergy.name" . -}}
{{- if contains $name .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* The name of a component's objects: (list $ "controller") */}}
{{- define "synergy.component" -}}
{{- printf "%s-%s" (include "synergy.fullname" (first .)) (index . 1) -}}
{{- end -}}

{{/* "true" for a component that runs: (list $ "controller"). In shadow mode the extender alone does, as "scheduler". */}}
{{- define "synergy.runs" -}}
{{- $values := (first .).Values -}}
{{- $switches := dict "scheduler" true "controller" true "device-plugin" $values.devicePlugin.enabled "node-agent" $values.nodeAgent.enabled "ui" $values.ui.enabled -}}
{{- if and (get $switches (last .)) (or (eq (last .) "scheduler") (not $values.extender.shadow)) }}true{{ end -}}
{{- end -}}

{{/* "true" if the controller acts on retries of jobs */}}
{{- define "synergy.retries" -}}
{{- if and (include "synergy.runs" (list . "controller")) (.Values.controller.config.failures | default dict).retries }}true{{ end -}}
{{- end -}}

{{/* "true" if the controller runs trials of jobs that wait in Kueue's queues */}}
{{- define "synergy.prerun" -}}
{{- if and (include "synergy.runs" (list . "controller")) .Values.kueue.enabled (.Values.controller.config.failures | default dict).prerun }}true{{ end -}}
{{- end -}}

{{/* "true" if the controller keeps reserved nodes from an autoscaler */}}
{{- define "synergy.autoscaler" -}}
{{- if and (include "synergy.runs" (list . "controller")) (.Values.controller.config.reservations | default dict).autoscaler }}true{{ end -}}
{{- end -}}

{{/* What pods of a component are found by: (list $ "controller") */}}
{{- define "synergy.selector" -}}
app.kubernetes.io/name: {{ include "synergy.name" (first .) }}
app.kubernetes.io/instance: {{ (first .).Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end -}}

{{/* The labels of a component's objects: as synergy.marks */}}
{{- define "synergy.labels" -}}
{{- $root := first . -}}
{{ include "synergy.selector" . }}
app.kubernetes.io/part-of: synergy
app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" $root.Chart.Name $root.Chart.Version }}
{{- if gt (len .) 3 }}
{{- with index . 3 }}
{{ toYaml . }}
{{- end }}
{{- end }}
{{- with $root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* The labels and annotations of a component's objects: (list $ "controller"), or (list $ "controller" $annotations $labels) where an
     object has more of its own */}}
{{- define "synergy.marks" -}}
labels:
  {{- include "synergy.labels" . | nindent 2 }}
{{- $own := dict -}}
{{- if gt (len .) 2 }}{{ $own = index . 2 | default dict }}{{ end }}
{{- with merge (dict) $own (first .).Values.commonAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* An object's name, labels and annotations: as synergy.marks */}}
{{- define "synergy.metadata" -}}
name: {{ include "synergy.component" . }}
namespace: {{ (first .).Release.Namespace }}
{{ include "synergy.marks" . }}
{{- end -}}

{{/* The same for an object without a namespace */}}
{{- define "synergy.clusterMetadata" -}}
name: {{ include "synergy.component" . }}
{{ include "synergy.marks" . }}
{{- end -}}

{{/* The labels and annotations of a CRD. Helm deletes none that has the policy, whatever becomes of the release. */}}
{{- define "synergy.crdMarks" -}}
{{- include "synergy.marks" (list . "crds" (.Values.crds.keep | ternary (dict "helm.sh/resource-policy" "keep") dict)) -}}
{{- end -}}

{{/* (list $ "controller" $values.controller) */}}
{{- define "synergy.serviceAccountName" -}}
{{- $account := (index . 2).serviceAccount -}}
{{- if $account.create -}}
{{- default (include "synergy.component" (list (index . 0) (index . 1))) $account.name -}}
{{- else -}}
{{- default "default" $account.name -}}
{{- end -}}
{{- end -}}

{{/* Value and policy cannot be changed of a PriorityClass: another value is another class. */}}
{{- define "synergy.priorityClassName" -}}
{{- $class := .Values.priorityClass -}}
{{- if .Values.extender.shadow -}}
{{- else if $class.create -}}
{{- printf "%s-%d-%s" (default (include "synergy.fullname" .) $class.name) (int64 $class.value) (lower $class.preemptionPolicy) -}}
{{- else -}}
{{- $class.name -}}
{{- end -}}
{{- end -}}

{{/* One of Synergy's own images: (list $ $values.controller). A digest is of the chart's own version: with another tag it would lie. */}}
{{- define "synergy.image" -}}
{{- $root := first . -}}
{{- $image := (last .).image -}}
{{- $registry := required "image.registry: missing. This chart comes from the source tree and names no registry: install the chart of a release, which does, or build and push the images with `scripts/images.sh --push REGISTRY`, and pass `--set image.registry=REGISTRY`" (coalesce (default dict $root.Values.global).imageRegistry $root.Values.image.registry) -}}
{{- $tag := default $root.Chart.AppVersion $root.Values.image.tag -}}
{{- printf "%s/%s:%s" $registry $image.repository $tag -}}
{{- if and $image.digest (eq $tag $root.Chart.AppVersion) }}@{{ $image.digest }}{{ end -}}
{{- end -}}

{{/* The cluster's own version of kube-scheduler, without what a provider adds (v1.36.5-gke.1080000): it cannot watch kinds that an older
     cluster lacks. */}}
{{- define "synergy.schedulerImage" -}}
{{- $cluster := semver .Capabilities.KubeVersion.Version -}}
{{- $tag := printf "v%d.%d.%d" $cluster.Major $cluster.Minor $cluster.Patch -}}
{{- $registry := coalesce (default dict .Values.global).imageRegistry .Values.scheduler.image.registry -}}
{{- with .Values.scheduler.image -}}
{{- with $registry }}{{ . }}/{{ end }}{{ .repository }}:{{ default $tag .tag }}{{ with .digest }}@{{ . }}{{ end }}
{{- end -}}
{{- end -}}

{{/* As whom a component's pods ask the API server: (list $ "controller" $values.controller) */}}
{{- define "synergy.username" -}}
{{- printf "system:serviceaccount:%s:%s" (index . 0).Release.Namespace (include "synergy.serviceAccountName" .) -}}
{{- end -}}

{{/* Asks a program for its health or readiness on its Unix socket, which no flood from the network reaches. A process starts
for that, so probes of health leave a busy node a minute: (list "synergy-extender" "ready") */}}
{{- define "synergy.probe" -}}
exec: {command: [{{ index . 0 }}, --probe-socket, {{ index . 0 }}, --check-{{ index . 1 }}]}
{{- end -}}

{{/* Rules of a role: what a program asks the API server about those who ask for its metrics. */}}
{{- define "synergy.reviewRules" -}}
- apiGroups: [authentication.k8s.io]
  resources: [tokenreviews]
  verbs: [create]
- apiGroups: [authorization.k8s.io]
  resources: [subjectaccessreviews]
  verbs: [create]
{{- end -}}

{{/* Annotations of pods that Synergy's programs alone write: kWrittenByPrograms in src/cluster/annotations.h */}}
{{- define "synergy.guardedAnnotations" -}}
'synergy.io/container', 'synergy.io/demand', 'synergy.io/fair-share', 'synergy.io/floor', 'synergy.io/original',
'synergy.io/profile', 'synergy.io/profile-generation', 'synergy.io/enforcement', 'synergy.io/gpu-product', 'synergy.io/placeholder',
'synergy.io/change', 'synergy.io/hold', 'synergy.io/room-seen', 'synergy.io/gpu-reservation', 'synergy.io/longest-run', 'synergy.io/unshrinkable-until',
'synergy.io/memory-let-be', 'synergy.io/memory-in-use', 'synergy.io/devices', 'synergy.io/warnings', 'synergy.io/workload', 'synergy.io/probe', 'synergy.io/turn',
'synergy.io/spread-cost', 'synergy.io/workload-alike', 'synergy.io/profile-hint'
{{- end -}}
