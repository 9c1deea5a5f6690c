{{/* The programs' configurations: the fields that the chart itself decides, and the further fields in the values. */}}

{{- define "synergy.schedulerConfig" -}}
# Configuration of the kube-scheduler that runs beside synergy-extender (kube-scheduler --config).
#
# It has one profile only: kube-scheduler calls its extenders for the pods of every profile that it serves, so a cluster's
# default-scheduler stays a process of its own and is left as it is. Pods choose this one by schedulerName.
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection:
  leaderElect: true
  resourceName: {{ include "synergy.component" (list . "scheduler") }}
  resourceNamespace: {{ .Release.Namespace }}
# The defaults (50 and 100 requests a second) hold a burst of pods back by seconds.
clientConnection:
  qps: {{ .Values.scheduler.clientConnection.qps }}
  burst: {{ .Values.scheduler.clientConnection.burst }}
profiles:
- schedulerName: {{ .Values.schedulerName }}
  # Above 100 nodes kube-scheduler would stop looking once it has found enough that fit, and the extender would choose among
  # a sample.
  percentageOfNodesToScore: 100
  plugins:
    score:
      disabled:
      # It is against packing: an unbalanced node is what a mix of jobs is meant to fill.
      - name: NodeResourcesBalancedAllocation
  pluginConfig:
  - name: PodTopologySpread
    args:
      # Only pods that ask for a spread are spread. By default pods of one Job or Service would be, against packing.
      defaultingType: List
      defaultConstraints: []
  - name: NodeResourcesFit
    args:
      # Among nodes that the extender likes equally, and without it, fill nodes up so that whole ones stay free.
      scoringStrategy:
        type: MostAllocated
        resources:
        - name: {{ .Values.gpuResource }}
          weight: 5
        - name: cpu
          weight: 1
        - name: memory
          weight: 1
extenders:
- urlPrefix: http://127.0.0.1:8888
  filterVerb: filter
  prioritizeVerb: prioritize
  bindVerb: bind
  preemptVerb: preempt
  # An extender's score (0 to 10, scaled by 10) must outweigh the sum of all other scores.
  weight: 1000
  enableHTTPS: false
  httpTimeout: 15s
  # The extender watches nodes itself: it is sent names, not objects.
  nodeCacheCapable: true
  {{- if .Values.dra.enabled }}
  # All pods are sent to it: kube-scheduler would send none that have their GPUs by ResourceClaims.
  {{- else }}
  # Only pods that ask for GPUs, whole or shared, are sent to it; kube-scheduler goes on checking GPU counts too.
  managedResources:
  {{- range include "synergy.gpuResources" . | fromYamlArray }}
  - name: {{ . }}
    ignoredByScheduler: false
  {{- end }}
  {{- end }}
  # Without the extender these pods wait: placed past it, they could take what it has promised to others.
  ignorable: false
{{- end -}}

{{/* Returns the resources of the GPUs that Synergy manages: whole GPUs, slices, turns. */}}
{{- define "synergy.gpuResources" -}}
{{- range $suffix := list "" ".shared" ".turns" }}
- {{ $.Values.gpuResource }}{{ $suffix }}
{{- end }}
{{- end -}}

{{- define "synergy.extenderConfig" -}}
# The verbs on loopback, for the kube-scheduler beside it alone; probes and metrics for everybody.
{{ mergeOverwrite (dict
    "listen" "127.0.0.1:8888"
    "httpListen" ":8889"
    "metricsAuthorization" .Values.metrics.authorization
    "gpuResource" .Values.gpuResource
    "dra" .Values.dra
    "shadow" .Values.extender.shadow
    "schedulerName" .Values.schedulerName
    "hold" (default "60s" .Values.controller.config.tuner.hold)
    "nodeHeadroom" .Values.nodeHeadroom
    "reservations" (dict "enabled" (default false .Values.controller.config.reservations.enabled))
    "elsewhereNamespace" (include "synergy.retries" . | empty | ternary "" .Release.Namespace)
    "storageNamespace" (include "synergy.storage" . | empty | ternary "" .Release.Namespace)
    "log" .Values.log) (deepCopy .Values.extender.config) | toYaml }}
{{- end -}}

{{- define "synergy.controllerConfig" -}}
{{- $clients := dict -}}
{{- if .Values.webhook.clients.configMap -}}
{{- $clients = dict "caFile" "/webhook-clients/ca.crt" "name" .Values.webhook.clients.name -}}
{{- end -}}
{{- $own := dict -}}
{{- $agentAuthority := "/agents/ca.crt" -}}
{{- if eq .Values.webhook.certificate.mode "own" -}}
{{- $name := include "synergy.serverName" (list . "controller") -}}
{{- $agentAuthority = "/tls/ca.crt" -}}
{{- $own = dict "secret" (include "synergy.webhookSecret" .) "agentSecret" (include "synergy.agentSecret" .)
    "names" (list $name (printf "%s.cluster.local" $name)) "webhooks" (include "synergy.fullname" .)
    "authorityFile" "/tls/ca.crt" "validity" (printf "%dh" (mul 24 (int64 .Values.webhook.certificate.validityDays))) -}}
{{- end -}}
{{- $progress := dict "enabled" false -}}
{{- if include "synergy.agentSecret" . -}}
{{- $agents := list -}}
{{- range $key, $value := include "synergy.selector" (list . "node-agent") | fromYaml }}{{ $agents = append $agents (printf "%s=%s" $key $value) }}{{ end -}}
{{- $progress = dict "enabled" true "agents" (join "," $agents) "serverName" (include "synergy.serverName" (list . "node-agent"))
    "port" 9412 "caFile" $agentAuthority "listen" (printf ":%v" .Values.controller.ports.progress)
    "reader" (include "synergy.component" (list . "controller-progress")) -}}
{{- end -}}
{{- $failures := dict -}}
{{- if include "synergy.prerun" . -}}{{- $failures = dict "prerunPriorityClass" (include "synergy.component" (list . "prerun")) -}}{{- end -}}
{{ mergeOverwrite (dict
    "listen" (printf ":%v" .Values.controller.ports.webhook)
    "httpListen" (printf ":%v" .Values.controller.ports.http)
    "metricsAuthorization" .Values.metrics.authorization
    "tls" (dict "certificateFile" "/tls/tls.crt" "keyFile" "/tls/tls.key")
    "ownCertificate" $own
    "webhookClients" $clients
    "gpuResource" .Values.gpuResource
    "dra" .Values.dra
    "schedulerName" .Values.schedulerName
    "nodeHeadroom" .Values.nodeHeadroom
    "ownNamespace" .Release.Namespace
    "progress" $progress
    "turns" (dict "enabled" (and $progress.enabled .Values.nodeAgent.turns.enabled))
    "kueue" (dict "enabled" .Values.kueue.enabled "elastic" .Values.kueue.elastic "trainJobProgress" .Values.kueue.trainJobProgress
      "growthBeyondQuota" .Values.kueue.growthBeyondQuota)
    "failures" $failures
    "leaseName" (include "synergy.component" (list . "controller"))
    "log" .Values.log) (deepCopy .Values.controller.config) | toYaml }}
{{- end -}}

{{/* Returns the file in which the device plugin reports to the node agent beside it how busy GPUs are. Empty if not both of them run. */}}
{{- define "synergy.gpuBusyFile" -}}
{{- if and (include "synergy.runs" (list . "device-plugin")) (include "synergy.runs" (list . "node-agent")) -}}
/run/synergy-device-plugin/gpu-busy.json
{{- end -}}
{{- end -}}

{{- define "synergy.devicePluginConfig" -}}
{{- $file := ternary (dict "source" "file" "inventoryFile" "/etc/synergy/inventory.yaml") (dict) (ne .Values.devicePlugin.inventory "") -}}
{{ mergeOverwrite (dict
    "resource" .Values.gpuResource
    "listen" ":9410"
    "metricsAuthorization" .Values.metrics.authorization
    "stateFolder" "/run/synergy-device-plugin"
    "gpuBusyFile" (include "synergy.gpuBusyFile" .)
    "log" .Values.log) (deepCopy .Values.devicePlugin.config) $file | toYaml }}
{{- end -}}

{{/* Returns "true" if the node agent suspends pods for their turns. Empty if it does not, or if no controller can renew turns. */}}
{{- define "synergy.suspends" -}}
{{- if and .Values.nodeAgent.turns.enabled (include "synergy.agentSecret" .) }}true{{ end -}}
{{- end -}}

{{- define "synergy.nodeAgentConfig" -}}
{{- $progress := dict -}}
{{- if include "synergy.agentSecret" . -}}
{{- $progress = dict "progressListen" ":9412" "tlsCertificateFile" "/tls/tls.crt" "tlsKeyFile" "/tls/tls.key"
    "clientCaFile" "/clients/ca.crt" "clientName" (include "synergy.serverName" (list . "controller")) -}}
{{- end -}}
{{- if include "synergy.suspends" . -}}
{{- $_ := set $progress "turns" (dict "enabled" true) -}}
{{- end -}}
{{- if .Values.nodeAgent.progressFiles -}}
{{- $_ := set $progress "podsFolder" "/host/pods" -}}
{{- end -}}
{{ mergeOverwrite (dict
    "listen" ":9411"
    "metricsAuthorization" .Values.metrics.authorization
    "schedulerName" .Values.schedulerName
    "gpuResource" .Values.gpuResource
    "cgroupFolder" "/host/cgroup"
    "podLogFolder" .Values.nodeAgent.podLogFolder
    "divideStorage" .Values.nodeAgent.divideStorage
    "stateFolder" "/run/synergy-node-agent"
    "confineWrites" (not .Values.nodeAgent.seeReads)
    "transientUnitFolder" "/run/systemd/transient"
    "gpuBusyFile" (include "synergy.gpuBusyFile" .)
    "podResourcesSocket" (ternary "/var/lib/kubelet/pod-resources/kubelet.sock" "" .Values.nodeAgent.podResources)
    "dcgm" .Values.nodeAgent.dcgm
    "log" .Values.log) $progress (deepCopy .Values.nodeAgent.config) | toYaml }}
{{- end -}}
