# Turns node shapes (a list, see docs/internals/test-cluster.md) into a List of Node objects. $count is the number of nodes of each
# shape that says none.
#
# The objects are complete: what others would add (kwok a first status, the controller manager the beta labels) would cost
# several more writes for each of a thousand nodes.

def known: ["name", "count", "gpus", "cpu", "memory", "pods", "labels"];

def checked:
  (.name // error("a shape without a name")) as $name
  | (keys - known | if length > 0 then error("shape \($name): unknown field \(.[0])") else empty end),
    (("cpu", "memory") as $field | if has($field) then empty else error("shape \($name): \($field) is missing") end),
    (if $name == "node" then error("shape names other than node: the real nodes have it") else empty end),
    .;

def condition($type; $status; $reason):
  {type: $type, status: $status, reason: $reason, lastHeartbeatTime: (now | todate), lastTransitionTime: (now | todate)};

def node($number):
  ({cpu: "\(.cpu)", memory: "\(.memory)", pods: "\(.pods // 110)"}
    + (if .gpus then {"nvidia.com/gpu": "\(.gpus)"} else {} end)) as $resources
  | "\(.name)-\($number)" as $name
  | {
      apiVersion: "v1",
      kind: "Node",
      metadata: {
        name: $name,
        annotations: {"kwok.x-k8s.io/node": "fake"},
        labels: ({
          "kubernetes.io/hostname": $name,
          "kubernetes.io/os": "linux",
          "kubernetes.io/arch": "amd64",
          "beta.kubernetes.io/os": "linux",
          "beta.kubernetes.io/arch": "amd64",
          "synergy.test/node": "simulated"
        } + (.labels // {}))
      },
      status: {
        phase: "Running",
        capacity: $resources,
        allocatable: $resources,
        addresses: [{type: "InternalIP", address: "127.0.0.1"}, {type: "Hostname", address: $name}],
        nodeInfo: ({
          operatingSystem: "linux", architecture: "amd64", kubeletVersion: "kwok", containerRuntimeVersion: "kwok",
          bootID: "", kernelVersion: "", kubeProxyVersion: "", machineID: "", osImage: "", systemUUID: ""
        }),
        conditions: [
          condition("Ready"; "True"; "KubeletReady"),
          condition("MemoryPressure"; "False"; "KubeletHasSufficientMemory"),
          condition("DiskPressure"; "False"; "KubeletHasNoDiskPressure"),
          condition("PIDPressure"; "False"; "KubeletHasSufficientPID")
        ]
      }
    };

if type != "array" then error("not a list of shapes") else . end
| {apiVersion: "v1", kind: "List", items: [
    .[] | checked
    | range(.count // (if $count > 0 then $count else error("shape \(.name): no count, and no --simulated-nodes") end)) as $index
    | node($index + 1)
  ]}
