#pragma once

// The members of all values that a journal records of a cluster, and their names in the journal's
// text. The writer and the reader share them. Private to this folder.
//
// Members(each, value) calls each(name, member) for every member of `value`. A new member of a
// struct does not compile here until it has a name.
//
// Threading: pure.

#include <array>
#include <string_view>

#include "cluster/node_selection.h"
#include "cluster/state/cluster_journal.h"
#include "wire/base/member_text.h"

namespace synergy::wire {

template <>
inline constexpr std::array<std::string_view, 2> kWords<Enforcement>{"Strict", "Shared"};
template <>
inline constexpr std::array<std::string_view, 9> kWords<ChangeKind>{
    "Allocated", "Reclaimed", "Grown",    "Divided",  "Undone",
    "Lent",      "Returned",  "Borrowed", "GivenBack"};
template <>
inline constexpr std::array<std::string_view, 5> kWords<ResizeState>{
    "None", "InProgress", "Deferred", "Infeasible", "Refused"};
template <>
inline constexpr std::array<std::string_view, 4> kWords<DeviceSafety>{"Unknown", "Safe", "Unsafe",
                                                                      "Lost"};
template <>
inline constexpr std::array<std::string_view, 2> kWords<LooserIdentity>{"Arguments", "Owner"};
template <>
inline constexpr std::array<std::string_view, 7> kWords<NodeRequirement::Operator>{
    "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Unknown"};
template <>
inline constexpr std::array<std::string_view, 4> kWords<LabelSelector::Operator>{
    "In", "NotIn", "Exists", "DoesNotExist"};

void Members(auto& each, Like<ResourceVector> auto& amounts) {
  auto& [gpus, cpu, memory] = amounts;
  each("gpus", gpus);
  each("cpu", cpu);
  each("memory", memory);
}

void Members(auto& each, Like<Resources> auto& resources) {
  auto& [main, other] = resources;
  each("main", main);
  each("other", other);
}

void Members(auto& each, Like<ChangeRecord> auto& change) {
  auto& [kind, from, to, why, at, memory_changed_before, borrowed, borrower] = change;
  each("kind", kind);
  each("from", from);
  each("to", to);
  each("why", why);
  each("at", at);
  each("memoryChangedBefore", memory_changed_before);
  each("borrowed", borrowed);
  each("borrower", borrower);
}

void Members(auto& each, Like<MemoryReading> auto& reading) {
  auto& [in_use, node_short, at] = reading;
  each("inUse", in_use);
  each("nodeShort", node_short);
  each("at", at);
}

void Members(auto& each, Like<DeviceReading> auto& reading) {
  auto& [safety, why, resized, container] = reading;
  each("safety", safety);
  each("why", why);
  each("resized", resized);
  each("container", container);
}

void Members(auto& each, Like<WrittenAmounts> auto& written) {
  auto& [cpu_request, cpu_limit, memory_request, memory_limit] = written;
  each("cpuRequest", cpu_request);
  each("cpuLimit", cpu_limit);
  each("memoryRequest", memory_request);
  each("memoryLimit", memory_limit);
}

void Members(auto& each, Like<CpuProbe> auto& probe) {
  auto& [cpu, until, burst] = probe;
  each("cpu", cpu);
  each("until", until);
  each("burst", burst);
}

void Members(auto& each, Like<GpuTurn::Part> auto& part) {
  auto& [begin, end] = part;
  each("begin", begin);
  each("end", end);
}

void Members(auto& each, Like<GpuTurn> auto& turn) {
  auto& [epoch, cycle, runs, with, beside] = turn;
  each("epoch", epoch);
  each("cycle", cycle);
  each("runs", runs);
  each("with", with);
  each("beside", beside);
}

void Members(auto& each, Like<LooserIdentities> auto& identities) {
  auto& [arguments, owner] = identities;
  each("arguments", arguments);
  each("owner", owner);
}

void Members(auto& each, Like<AdmittedContainer> auto& container) {
  auto& [name, profile, profile_generation, workload, alike, hint, enforcement, floor, demand,
         fair_share, written, placeholder] = container;
  each("container", name);
  each("profile", profile);
  each("profileGeneration", profile_generation);
  each("workload", workload);
  each("alike", alike);
  each("hint", hint);
  each("enforcement", enforcement);
  each("floor", floor);
  each("demand", demand);
  each("fairShare", fair_share);
  each("written", written);
  each("placeholder", placeholder);
}

void Members(auto& each, Like<SpecifiedContainer> auto& container) {
  auto& [beside, init_peak, requested, cpu_limit, memory_limit] = container;
  each("beside", beside);
  each("initPeak", init_peak);
  each("requested", requested);
  each("cpuLimit", cpu_limit);
  each("memoryLimit", memory_limit);
}

void Members(auto& each, Like<ReportedContainer> auto& container) {
  auto& [memory_limit_in_force, in_force, set_aside, reported, guaranteed, resize, resize_message] =
      container;
  each("memoryLimitInForce", memory_limit_in_force);
  each("inForce", in_force);
  each("setAside", set_aside);
  each("reported", reported);
  each("guaranteed", guaranteed);
  each("resize", resize);
  each("resizeMessage", resize_message);
}

void Members(auto& each, Like<ContainerHistory> auto& container) {
  auto& [resized_by_us_alone, change, announced_until, unshrinkable_until, memory_reading, devices,
         oom_killed, evicted_for_memory, memory_let_be, probe, turn, leaves] = container;
  each("resizedByUsAlone", resized_by_us_alone);
  each("change", change);
  each("announcedUntil", announced_until);
  each("unshrinkableUntil", unshrinkable_until);
  each("memoryReading", memory_reading);
  each("devices", devices);
  each("oomKilled", oom_killed);
  each("evictedForMemory", evicted_for_memory);
  each("memoryLetBe", memory_let_be);
  each("probe", probe);
  each("turn", turn);
  each("leaves", leaves);
}

void Members(auto& each, Like<SharingContainer> auto& container) {
  auto& [may_pack, gpu_memory] = container;
  each("mayPack", may_pack);
  each("gpuMemory", gpu_memory);
}

// The text has the parts in the order of Members() below.
template <class Part>
void MembersOf(auto& each, Like<ManagedContainer> auto& container) {
  using Base = std::conditional_t<std::is_const_v<std::remove_reference_t<decltype(container)>>,
                                  const Part, Part>;
  Members(each, static_cast<Base&>(container));
}
void Members(auto& each, Like<ManagedContainer> auto& container) {
  MembersOf<AdmittedContainer>(each, container);
  MembersOf<SpecifiedContainer>(each, container);
  MembersOf<ReportedContainer>(each, container);
  MembersOf<ContainerHistory>(each, container);
  MembersOf<SharingContainer>(each, container);
}

void Members(auto& each, Like<NodeRequirement> auto& requirement) {
  auto& [key, op, values, is_field] = requirement;
  each("key", key);
  each("operator", op);
  each("values", values);
  each("isField", is_field);
}

void Members(auto& each, Like<Toleration> auto& toleration) {
  auto& [key, value, effect, exists] = toleration;
  each("key", key);
  each("value", value);
  each("effect", effect);
  each("exists", exists);
}

void Members(auto& each, Like<NodeSelection> auto& selection) {
  auto& [node_selector, has_affinity, terms, tolerations] = selection;
  each("nodeSelector", node_selector);
  each("hasAffinity", has_affinity);
  each("terms", terms);
  each("tolerations", tolerations);
}

void Members(auto& each, Like<Waiting> auto& waiting) {
  auto& [scheduler, unschedulable, message, since, kept_node, kept_until, nominated_node,
         never_preempts, prefers, selection] = waiting;
  each("scheduler", scheduler);
  each("unschedulable", unschedulable);
  each("message", message);
  each("since", since);
  each("keptNode", kept_node);
  each("keptUntil", kept_until);
  each("nominatedNode", nominated_node);
  each("neverPreempts", never_preempts);
  each("prefers", prefers);
  each("selection", selection);
}

void Members(auto& each, Like<SpreadCost> auto& cost) {
  auto& [nodes, racks, tensor_skew] = cost;
  each("nodes", nodes);
  each("racks", racks);
  each("tensorSkew", tensor_skew);
}

void Members(auto& each, Like<Gang> auto& gang) {
  auto& [name, size, problem, spread, run] = gang;
  each("name", name);
  each("size", size);
  each("problem", problem);
  each("spread", spread);
  each("run", run);
}

void Members(auto& each, Like<HostPort> auto& host_port) {
  auto& [ip, protocol, port] = host_port;
  each("ip", ip);
  each("protocol", protocol);
  each("port", port);
}

void Members(auto& each, Like<AntiAffinity> auto& term) {
  auto& [topology_key, selector] = term;
  each("topologyKey", topology_key);
  each("selector", selector);
}

void Members(auto& each, Like<TopologySpread> auto& spread) {
  auto& [topology_key, max_skew, min_domains, selector, honors_affinity, honors_taints] = spread;
  each("topologyKey", topology_key);
  each("maxSkew", max_skew);
  each("minDomains", min_domains);
  each("selector", selector);
  each("honorsAffinity", honors_affinity);
  each("honorsTaints", honors_taints);
}

void Members(auto& each, Like<Separation> auto& separation) {
  auto& [host_ports, anti_affinity, spread] = separation;
  each("hostPorts", host_ports);
  each("antiAffinity", anti_affinity);
  each("spread", spread);
}

void Members(auto& each, Like<PodDevices> auto& devices) {
  auto& [claims, gpus, known, why_left_alone] = devices;
  each("claims", claims);
  each("gpus", gpus);
  each("known", known);
  each("whyLeftAlone", why_left_alone);
}

void Members(auto& each, Like<Pod> auto& pod) {
  auto& [uid, pod_namespace, name, node, resource_version, labels, requests, slices, demand,
         gpu_product, devices, fungible, waiting, gang, separation, priority, terminal, succeeded,
         misaligned, deleting, grace, tolerates_unschedulable, gated, warnings] = pod;
  each("uid", uid);
  each("namespace", pod_namespace);
  each("name", name);
  each("node", node);
  each("resourceVersion", resource_version);
  each("labels", labels);
  each("requests", requests);
  each("slices", slices);
  each("demand", demand);
  each("gpuProduct", gpu_product);
  each("devices", devices);
  each("fungible", fungible);
  each("waiting", waiting);
  each("gang", gang);
  each("separation", separation);
  each("priority", priority);
  each("terminal", terminal);
  each("succeeded", succeeded);
  each("misaligned", misaligned);
  each("deleting", deleting);
  each("grace", grace);
  each("toleratesUnschedulable", tolerates_unschedulable);
  each("gated", gated);
  each("warnings", warnings);
}

void Members(auto& each, Like<Taint> auto& taint) {
  auto& [key, value, effect] = taint;
  each("key", key);
  each("value", value);
  each("effect", effect);
}

void Members(auto& each, Like<GpuKinds> auto& kinds) {
  auto& [installed, products, most_per_numa_node, by_claim, no_requests, slices, slices_per_gpu] =
      kinds;
  each("installed", installed);
  each("products", products);
  each("mostPerNumaNode", most_per_numa_node);
  each("byClaim", by_claim);
  each("noRequests", no_requests);
  each("slices", slices);
  each("slicesPerGpu", slices_per_gpu);
}

void Members(auto& each, Like<Node> auto& node) {
  auto& [name, labels, taints, gpu_kinds, allocatable, pods_allowed, unschedulable, deleting,
         short_of_memory, boot_id] = node;
  each("name", name);
  each("labels", labels);
  each("taints", taints);
  each("gpuKinds", gpu_kinds);
  each("allocatable", allocatable);
  each("podsAllowed", pods_allowed);
  each("unschedulable", unschedulable);
  each("deleting", deleting);
  each("shortOfMemory", short_of_memory);
  each("bootId", boot_id);
}

void Members(auto& each, Like<LabelSelector::Requirement> auto& requirement) {
  auto& [key, op, values] = requirement;
  each("key", key);
  each("operator", op);
  each("values", values);
}

void Members(auto& each, Like<LabelSelector> auto& selector) {
  auto& [requirements] = selector;
  each("requirements", requirements);
}

void Members(auto& each, Like<DisruptionBudget> auto& budget) {
  auto& [uid, pod_namespace, name, selector, disruptions_allowed, disrupted_pods] = budget;
  each("uid", uid);
  each("namespace", pod_namespace);
  each("name", name);
  each("selector", selector);
  each("disruptionsAllowed", disruptions_allowed);
  each("disruptedPods", disrupted_pods);
}

void Members(auto& each, Like<AmountBounds> auto& bounds) {
  auto& [least, most] = bounds;
  each("least", least);
  each("most", most);
}

void Members(auto& each, Like<LimitRange> auto& range) {
  auto& [uid, pod_namespace, name, container, pod, cpu_ratio, memory_ratio] = range;
  each("uid", uid);
  each("namespace", pod_namespace);
  each("name", name);
  each("container", container);
  each("pod", pod);
  each("cpuRatio", cpu_ratio);
  each("memoryRatio", memory_ratio);
}

void Members(auto& each, Like<QuotaSum> auto& sum) {
  auto& [hard, used] = sum;
  each("hard", hard);
  each("used", used);
}

void Members(auto& each, Like<ResourceQuota> auto& quota) {
  auto& [uid, pod_namespace, name, requests, limits, by_qos] = quota;
  each("uid", uid);
  each("namespace", pod_namespace);
  each("name", name);
  each("requests", requests);
  each("limits", limits);
  each("byQos", by_qos);
}

void Members(auto& each, Like<DeviceRules> auto& rules) {
  auto& [gpu_resource, classes] = rules;
  each("gpuResource", gpu_resource);
  each("classes", classes);
}

void Members(auto& each, Like<DeviceRequest> auto& request) {
  auto& [device_class, count, admin_access] = request;
  each("deviceClass", device_class);
  each("count", count);
  each("adminAccess", admin_access);
}

void Members(auto& each, Like<AllocatedDevice> auto& allocated) {
  auto& [driver, pool, device, admin_access] = allocated;
  each("driver", driver);
  each("pool", pool);
  each("device", device);
  each("adminAccess", admin_access);
}

void Members(auto& each, Like<ResourceClaim> auto& claim) {
  auto& [uid, pod_namespace, name, requests, allocated, devices] = claim;
  each("uid", uid);
  each("namespace", pod_namespace);
  each("name", name);
  each("requests", requests);
  each("allocated", allocated);
  each("devices", devices);
}

void Members(auto& each, Like<SliceDevice> auto& device) {
  auto& [name, node, product, part, tainted] = device;
  each("name", name);
  each("node", node);
  each("product", product);
  each("part", part);
  each("tainted", tainted);
}

void Members(auto& each, Like<ResourceSlice> auto& slice) {
  auto& [name, driver, pool, generation, devices] = slice;
  each("name", name);
  each("driver", driver);
  each("pool", pool);
  each("generation", generation);
  each("devices", devices);
}

void Members(auto& each, Like<DeviceClass> auto& device_class) {
  auto& [name, extended_resource] = device_class;
  each("name", name);
  each("extendedResource", extended_resource);
}

void Members(auto& each, Like<AssumeOutcome> auto& outcome) {
  auto& [assumed, failures, bound_to] = outcome;
  each("assumed", assumed);
  each("failures", failures);
  each("boundTo", bound_to);
}

// The calls.

void Members(auto& each, Like<cluster_change::ReplaceNodes> auto& call) {
  each("nodes", call.nodes);
}
void Members(auto& each, Like<cluster_change::UpsertNode> auto& call) { each("node", call.node); }
void Members(auto& each, Like<cluster_change::RemoveNode> auto& call) { each("name", call.name); }
void Members(auto& each, Like<cluster_change::PutListedPods> auto& call) {
  auto& [pods, observed_until] = call;
  each("pods", pods);
  each("heardUntil", observed_until);
}
void Members(auto& each, Like<cluster_change::UpsertPod> auto& call) { each("pod", call.pod); }
void Members(auto& each, Like<cluster_change::RemovePod> auto& call) { each("uid", call.uid); }
void Members(auto& each, Like<cluster_change::RefreshPod> auto& call) { each("pod", call.pod); }
void Members(auto& each, Like<cluster_change::ReplaceDisruptionBudgets> auto& call) {
  each("budgets", call.budgets);
}
void Members(auto& each, Like<cluster_change::UpsertDisruptionBudget> auto& call) {
  each("budget", call.budget);
}
void Members(auto& each, Like<cluster_change::RemoveDisruptionBudget> auto& call) {
  each("uid", call.uid);
}
void Members(auto& each, Like<cluster_change::ReplaceLimitRanges> auto& call) {
  each("ranges", call.ranges);
}
void Members(auto& each, Like<cluster_change::UpsertLimitRange> auto& call) {
  each("range", call.range);
}
void Members(auto& each, Like<cluster_change::RemoveLimitRange> auto& call) {
  each("uid", call.uid);
}
void Members(auto& each, Like<cluster_change::ReplaceResourceQuotas> auto& call) {
  each("quotas", call.quotas);
}
void Members(auto& each, Like<cluster_change::UpsertResourceQuota> auto& call) {
  each("quota", call.quota);
}
void Members(auto& each, Like<cluster_change::RemoveResourceQuota> auto& call) {
  each("uid", call.uid);
}
void Members(auto& each, Like<cluster_change::Expect> auto& call) {
  auto& [pod, node, deadline] = call;
  each("pod", pod);
  each("place", node);
  each("deadline", deadline);
}
void Members(auto& each, Like<cluster_change::Assume> auto& call) {
  auto& [pod, node, deadline, outcome] = call;
  each("pod", pod);
  each("node", node);
  each("deadline", deadline);
  each("outcome", outcome);
}
void Members(auto& each, Like<cluster_change::Forget> auto& call) { each("uid", call.uid); }
void Members(auto& each, Like<cluster_change::Extend> auto& call) {
  auto& [uid, deadline] = call;
  each("uid", uid);
  each("deadline", deadline);
}
void Members(auto& each, Like<cluster_change::DropStaleExpectations> auto& call) {
  auto& [now, wall] = call;
  each("now", now);
  each("wall", wall);
}
void Members(auto&, Like<cluster_change::KeepNews> auto&) {}
void Members(auto& each, Like<GangPlace> auto& place) {
  auto& [uid, node] = place;
  each("uid", uid);
  each("node", node);
}
void Members(auto& each, Like<cluster_change::Reserve> auto& call) {
  auto& [places, deadline, outcome] = call;
  each("places", places);
  each("deadline", deadline);
  each("held", outcome);
}
void Members(auto& each, Like<cluster_change::Release> auto& call) { each("uids", call.uids); }
void Members(auto& each, Like<cluster_change::ReleaseKept> auto& call) { each("uids", call.uids); }
void Members(auto& each, Like<cluster_change::NoteSucceeded> auto& call) {
  auto& [gang, members] = call;
  each("gang", gang);
  each("members", members);
}
void Members(auto& each, Like<cluster_change::ReserveForReplacements> auto& call) {
  each("hold", call.hold);
  each("now", call.now);
}
void Members(auto& each, Like<cluster_change::SettleReplacement> auto& call) {
  auto& [uid, is_awaited] = call;
  each("uid", uid);
  each("awaited", is_awaited);
}

void Members(auto& each, Like<cluster_change::CountDevices> auto& call) {
  each("rules", call.rules);
}
void Members(auto& each, Like<cluster_change::ReplaceResourceClaims> auto& call) {
  each("claims", call.claims);
}
void Members(auto& each, Like<cluster_change::UpsertResourceClaim> auto& call) {
  each("claim", call.claim);
}
void Members(auto& each, Like<cluster_change::RemoveResourceClaim> auto& call) {
  each("uid", call.uid);
}
void Members(auto& each, Like<cluster_change::ReplaceResourceSlices> auto& call) {
  each("slices", call.slices);
}
void Members(auto& each, Like<cluster_change::UpsertResourceSlice> auto& call) {
  each("slice", call.slice);
}
void Members(auto& each, Like<cluster_change::RemoveResourceSlice> auto& call) {
  each("name", call.name);
}
void Members(auto& each, Like<cluster_change::ReplaceDeviceClasses> auto& call) {
  each("classes", call.classes);
}
void Members(auto& each, Like<cluster_change::UpsertDeviceClass> auto& call) {
  each("class", call.device_class);
}
void Members(auto& each, Like<cluster_change::RemoveDeviceClass> auto& call) {
  each("name", call.name);
}

}  // namespace synergy::wire
