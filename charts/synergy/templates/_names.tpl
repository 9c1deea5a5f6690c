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

{{/* Returns the name of a component's objects: (list $ "controller") */}}
{{- define "synergy.component" -}}
{{- printf "%s-%s" (include "synergy.fullname" (first .)) (index . 1) -}}
{{- end -}}

{{/* Returns "true" if a component runs: (list $ "controller"). In shadow mode only the extender does, as "scheduler". */}}
{{- define "synergy.runs" -}}
{{- $values := (first .).Values -}}
{{- $switches := dict "scheduler" true "controller" true "device-plugin" $values.devicePlugin.enabled "node-agent" $values.nodeAgent.enabled "ui" $values.ui.enabled -}}
{{- if and (get $switches (last .)) (or (eq (last .) "scheduler") (not $values.extender.shadow)) }}true{{ end -}}
{{- end -}}

{{/* Returns "true" if the controller acts on retries of jobs */}}
{{- define "synergy.retries" -}}
{{- if and (include "synergy.runs" (list . "controller")) (.Values.controller.config.failures | default dict).retries }}true{{ end -}}
{{- end -}}

{{/* Returns "true" if the controller publishes what it knows about storage */}}
{{- define "synergy.storage" -}}
{{- $tuner := .Values.controller.config.tuner | default dict -}}
{{- if and (include "synergy.runs" (list . "controller")) $tuner.storage (ne $tuner.enabled false) }}true{{ end -}}
{{- end -}}

{{/* Returns "true" if the controller runs trials of jobs that wait in Kueue's queues */}}
{{- define "synergy.prerun" -}}
{{- if and (include "synergy.runs" (list . "controller")) .Values.kueue.enabled (.Values.controller.config.failures | default dict).prerun }}true{{ end -}}
{{- end -}}

{{/* Returns "true" if the controller keeps an autoscaler from removing reserved nodes */}}
{{- define "synergy.autoscaler" -}}
{{- if and (include "synergy.runs" (list . "controller")) (.Values.controller.config.reservations | default dict).autoscaler }}true{{ end -}}
{{- end -}}

{{/* Returns the labels that select a component's pods: (list $ "controller") */}}
{{- define "synergy.selector" -}}
app.kubernetes.io/name: {{ include "synergy.name" (first .) }}
app.kubernetes.io/instance: {{ (first .).Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end -}}

{{/* Returns the labels of a component's objects; arguments as for synergy.marks */}}
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

{{/* Returns the labels and annotations of a component's objects: (list $ "controller"), or (list $ "controller" $annotations
     $labels) if an object has more of its own */}}
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

{{/* Returns an object's name, namespace, labels and annotations; arguments as for synergy.marks */}}
{{- define "synergy.metadata" -}}
name: {{ include "synergy.component" . }}
namespace: {{ (first .).Release.Namespace }}
{{ include "synergy.marks" . }}
{{- end -}}

{{/* Returns the same for an object without a namespace */}}
{{- define "synergy.clusterMetadata" -}}
name: {{ include "synergy.component" . }}
{{ include "synergy.marks" . }}
{{- end -}}

{{/* Returns the labels and annotations of a CRD. Helm never deletes a CRD that has the policy, even if the release is uninstalled. */}}
{{- define "synergy.crdMarks" -}}
{{- include "synergy.marks" (list . "crds" (.Values.crds.keep | ternary (dict "helm.sh/resource-policy" "keep") dict)) -}}
{{- end -}}

{{/* Returns the name of a component's service account: (list $ "controller" $values.controller) */}}
{{- define "synergy.serviceAccountName" -}}
{{- $account := (index . 2).serviceAccount -}}
{{- if $account.create -}}
{{- default (include "synergy.component" (list (index . 0) (index . 1))) $account.name -}}
{{- else -}}
{{- default "default" $account.name -}}
{{- end -}}
{{- end -}}

{{/* Returns the name of the PriorityClass. The value and policy of a class cannot change, so another value means another class. */}}
{{- define "synergy.priorityClassName" -}}
{{- $class := .Values.priorityClass -}}
{{- if .Values.extender.shadow -}}
{{- else if $class.create -}}
{{- printf "%s-%d-%s" (default (include "synergy.fullname" .) $class.name) (int64 $class.value) (lower $class.preemptionPolicy) -}}
{{- else -}}
{{- $class.name -}}
{{- end -}}
{{- end -}}

{{/* Returns one of Synergy's own images: (list $ $values.controller). The digest belongs to the chart's own version, so it is
     ignored if the tag is another one. */}}
{{- define "synergy.image" -}}
{{- $root := first . -}}
{{- $image := (last .).image -}}
{{- $registry := required "image.registry: missing. This chart comes from the source tree and names no registry: install the chart of a release, which does, or build and push the images with `scripts/images.sh --push REGISTRY`, and pass `--set image.registry=REGISTRY`" (coalesce (default dict $root.Values.global).imageRegistry $root.Values.image.registry) -}}
{{- $tag := default $root.Chart.AppVersion $root.Values.image.tag -}}
{{- printf "%s/%s:%s" $registry $image.repository $tag -}}
{{- if and $image.digest (eq $tag $root.Chart.AppVersion) }}@{{ $image.digest }}{{ end -}}
{{- end -}}

{{/* Returns the image of kube-scheduler in the cluster's own version, without a provider's suffix (v1.36.5-gke.1080000). A newer
     one could not watch kinds that the cluster lacks. */}}
{{- define "synergy.schedulerImage" -}}
{{- $cluster := semver .Capabilities.KubeVersion.Version -}}
{{- $tag := printf "v%d.%d.%d" $cluster.Major $cluster.Minor $cluster.Patch -}}
{{- $registry := coalesce (default dict .Values.global).imageRegistry .Values.scheduler.image.registry -}}
{{- with .Values.scheduler.image -}}
{{- with $registry }}{{ . }}/{{ end }}{{ .repository }}:{{ default $tag .tag }}{{ with .digest }}@{{ . }}{{ end }}
{{- end -}}
{{- end -}}

{{/* Returns the user name with which a component's pods call the API server: (list $ "controller" $values.controller) */}}
{{- define "synergy.username" -}}
{{- printf "system:serviceaccount:%s:%s" (index . 0).Release.Namespace (include "synergy.serviceAccountName" .) -}}
{{- end -}}

{{/* Returns a probe that asks a program for its health or readiness on its Unix socket, which no flood from the network can
     reach: (list "synergy-extender" "ready"). Each probe starts a process, so on a busy node health probes may take up to a
     minute. */}}
{{- define "synergy.probe" -}}
exec: {command: [{{ index . 0 }}, --probe-socket, {{ index . 0 }}, --check-{{ index . 1 }}]}
{{- end -}}

{{/* Returns rules of a role: a program asks the API server about clients that ask for its metrics. */}}
{{- define "synergy.reviewRules" -}}
- apiGroups: [authentication.k8s.io]
  resources: [tokenreviews]
  verbs: [create]
- apiGroups: [authorization.k8s.io]
  resources: [subjectaccessreviews]
  verbs: [create]
{{- end -}}

{{/* Returns the annotations of pods that only Synergy's programs may write: kWrittenByPrograms in src/cluster/annotations.h */}}
{{- define "synergy.guardedAnnotations" -}}
'synergy.io/container', 'synergy.io/demand', 'synergy.io/fair-share', 'synergy.io/floor', 'synergy.io/original',
'synergy.io/profile', 'synergy.io/profile-generation', 'synergy.io/enforcement', 'synergy.io/gpu-product', 'synergy.io/placeholder',
'synergy.io/change', 'synergy.io/hold', 'synergy.io/room-seen', 'synergy.io/gpu-reservation', 'synergy.io/longest-run', 'synergy.io/unshrinkable-until',
'synergy.io/memory-let-be', 'synergy.io/memory-in-use', 'synergy.io/devices', 'synergy.io/warnings', 'synergy.io/workload', 'synergy.io/probe', 'synergy.io/turn',
'synergy.io/spread-cost', 'synergy.io/workload-alike', 'synergy.io/profile-hint'
{{- end -}}
