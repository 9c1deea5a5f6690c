# shellcheck shell=bash
# Runs Kueue as a component of the cluster: its certificate, the kinds, rights and webhooks of its
# chart, and its process. Users create queues and flavors themselves.

has_kueue() { [[ -n $KUEUE ]]; }

# Kueue requires a certificate in a folder of /etc that no setting changes, so it gets its own /etc.
start_kueue() {
  # shellcheck disable=SC2016 # the inner shell's arguments
  spawn kueue env KUBECONFIG="$STATE/kueue.kubeconfig" unshare --map-root-user --mount \
    bash -c 'mount --no-mtab --bind "$1" /etc && exec "$2" --config /etc/kueue/config.yaml' \
    kueue "$STATE/kueue/etc" "$KUEUE/kueue"
}

kueue_is_ready() { curl --silent --fail --max-time 2 "http://127.0.0.1:$KUEUE_HEALTH_PORT/readyz"; }

# Installs everything except the process; runs once for each cluster.
install_kueue() {
  local home=$STATE/kueue/etc/kueue
  mkdir -p "$home/metrics/certs"
  # The chart gives its rights to this service account.
  make_user kueue /CN=system:serviceaccount:kueue-system:kueue-controller-manager
  make_certificate kueue-webhook /CN=kueue IP:127.0.0.1
  cp "$STATE/pki/kueue-webhook.crt" "$home/metrics/certs/tls.crt"
  cp "$STATE/pki/kueue-webhook.key" "$home/metrics/certs/tls.key"
  sed -e "s|@HEALTH_PORT@|$KUEUE_HEALTH_PORT|" -e "s|@WEBHOOK_PORT@|$KUEUE_PORT|" \
    "$REPOSITORY/tests/cluster/queueing/kueue/config.yaml" >"$home/config.yaml"
  {
    run_kubectl create namespace kueue-system &&
      create_objects_from kueue_manifests "$home/config.yaml" &&
      await_kind workloads.kueue.x-k8s.io
  } >>"$STATE/logs/kueue-manifests.log" 2>&1 || die "manifests of Kueue: $(<"$STATE/logs/kueue-manifests.log")"
}

kueue_manifests() {
  "$(helm_folder)/helm" template kueue "$KUEUE/chart" --namespace kueue-system \
    --set-file managerConfig.controllerManagerConfigYaml="$1" | objects_for_processes "{\"\": $KUEUE_PORT}"
}

# objects_for_processes PORTS: filters a rendered chart for programs that run as processes, not in
# pods. Keeps kinds, rights and webhooks; webhooks get an address on this machine instead of a
# Service. PORTS is JSON: the beginning of a Service's name -> its port.
objects_for_processes() {
  /usr/bin/python3 -c 'import json, sys, yaml; json.dump(list(yaml.load_all(sys.stdin, yaml.CSafeLoader)), sys.stdout)' |
    jq --argjson ports "$1" --arg authority "$(base64 -w 0 "$STATE/pki/ca.crt")" '
      map(select(.kind // "" | test("^(CustomResourceDefinition|(Cluster)?Role(Binding)?|[a-zA-Z]+WebhookConfiguration)$"))) |
      {apiVersion: "v1", kind: "List", items: .} |
      (.items[] | (.webhooks[]?, .spec.conversion.webhook? | select(.)).clientConfig) |=
        (.service as $service | first($ports | to_entries[] | select(.key as $start | $service.name | startswith($start))) as $port |
         {url: "https://127.0.0.1:\($port.value)\($service.path)", caBundle: $authority})'
}
