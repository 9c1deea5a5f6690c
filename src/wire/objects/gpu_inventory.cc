#include "wire/objects/gpu_inventory.h"

#include <set>
#include <utility>

#include <fmt/format.h>

#include "wire/base/json_words.h"
#include "wire/base/metadata.h"

namespace synergy::wire {
namespace {

constexpr int kVersion = 1;
constexpr int64_t kMostNvLinks = 256;
constexpr int64_t kMostNumaNodes = 1024;
constexpr int64_t kMostMemory = int64_t{1} << 50;

std::string Quote(std::string_view text) {
  std::string out;
  AppendJsonString(out, text);
  return out;
}

// Writes the members of an object, with commas between them.
class ObjectWriter {
 public:
  explicit ObjectWriter(std::string& out) : out_(out) { out_ += '{'; }

  // `json` is JSON text.
  void Raw(std::string_view key, std::string_view json) {
    Key(key);
    out_ += json;
  }
  void Text(std::string_view key, std::string_view text) {
    Key(key);
    AppendJsonString(out_, text);
  }
  void Number(std::string_view key, int64_t number) { Raw(key, std::to_string(number)); }
  void End() { out_ += '}'; }

 private:
  void Key(std::string_view key) {
    if (!first_) out_ += ',';
    first_ = false;
    AppendJsonString(out_, key);
    out_ += ':';
  }

  std::string& out_;
  bool first_ = true;
};

template <class Range, class ToJson>
std::string List(const Range& range, ToJson to_json) {
  std::string out = "[";
  for (const auto& element : range) {
    if (out.size() > 1) out += ',';
    out += to_json(element);
  }
  return out + "]";
}

std::string ToJson(const MigDevice& device) {
  std::string out;
  ObjectWriter object(out);
  object.Text("id", device.uuid);
  object.Text("profile", device.profile);
  object.Number("memory", device.memory.count());
  object.End();
  return out;
}

void WriteGpuFields(ObjectWriter& object, const Gpu& gpu) {
  object.Text("id", gpu.uuid);
  object.Text("product", gpu.product);
  object.Number("memory", gpu.memory.count());
  if (gpu.numa_node != kNoNuma) object.Number("numa", gpu.numa_node);
  if (!gpu.pci_id.empty()) object.Text("pci", gpu.pci_id);
  if (gpu.compute_capability) {
    object.Text("computeCapability",
                fmt::format("{}.{}", gpu.compute_capability->major, gpu.compute_capability->minor));
  }
  if (gpu.mig_capable) object.Raw("migCapable", "true");
  if (gpu.mig_enabled)
    object.Raw("mig", List(gpu.mig_devices, [](const MigDevice& d) { return ToJson(d); }));
}

// Returns [a, b, path, NVLinks] for each pair whose link differs from what its NUMA nodes suggest.
std::string LinksToJson(const GpuInventory& inventory) {
  const GpuInventory plain(inventory.gpus());
  std::string out = "[";
  for (size_t a = 0; a < inventory.gpus().size(); ++a) {
    for (size_t b = a + 1; b < inventory.gpus().size(); ++b) {
      const GpuLink& link = inventory.link(a, b);
      if (link == plain.link(a, b)) continue;
      out += fmt::format("{}[{},{},\"{}\",{}]", out.size() > 1 ? "," : "", a, b,
                         ToString(link.path), link.nvlinks);
    }
  }
  return out + "]";
}

void WriteMachineFields(ObjectWriter& object, const GpuInventory& inventory) {
  if (!inventory.driver_version.empty()) object.Text("driver", inventory.driver_version);
  if (!inventory.cuda_version.empty()) object.Text("cuda", inventory.cuda_version);
}

Gpu ReadGpu(FieldReader& fields, Value value, bool& healthy) {
  Gpu gpu;
  const Value object = fields.Object(value);
  gpu.uuid = ReadText(fields, object["id"]);
  if (gpu.uuid.empty()) fields.ReportMissing(object, "id");
  gpu.product = ReadText(fields, object["product"]);
  gpu.memory = Bytes(fields.Integer(object["memory"], 0, kMostMemory));
  gpu.numa_node = object["numa"].absent()
                      ? kNoNuma
                      : static_cast<int>(fields.Integer(object["numa"], 0, kMostNumaNodes));
  gpu.pci_id = ReadText(fields, object["pci"]);
  gpu.compute_capability = ParseComputeCapability(fields.Text(object["computeCapability"]));
  gpu.mig_capable = !object["migCapable"].absent() && fields.Truth(object["migCapable"]);
  gpu.mig_enabled = !object["mig"].absent();
  fields.Array(object["mig"]).ForEachElement([&](Value element) {
    const Value device = fields.Object(element);
    if (gpu.mig_devices.size() == kMostMigDevicesPerGpu) return;
    gpu.mig_devices.push_back({ReadText(fields, device["id"]),
                               ReadText(fields, device["profile"]),
                               Bytes(fields.Integer(device["memory"], 0, kMostMemory)),
                               {}});
  });
  healthy = object["healthy"].absent() || fields.Truth(object["healthy"]);
  return gpu;
}

void ReadLink(FieldReader& fields, Value value, GpuInventory& inventory) {
  std::vector<Value> parts;
  fields.Array(value).ForEachElement([&](Value part) {
    if (parts.size() < 4) parts.push_back(part);
  });
  if (parts.size() != 4) return fields.Report(value, "must be [GPU, GPU, path, NVLinks]");
  const auto last = static_cast<int64_t>(inventory.gpus().size()) - 1;
  const int64_t a = fields.Integer(parts[0], 0, last);
  const int64_t b = fields.Integer(parts[1], 0, last);
  const Result<PciPath> path = ParsePciPath(fields.Text(parts[2]));
  if (!path) return fields.Report(parts[2], path.error().message);
  const int64_t nvlinks = fields.Integer(parts[3], 0, kMostNvLinks);
  if (last < 0) return;
  inventory.SetLink(static_cast<size_t>(a), static_cast<size_t>(b),
                    {*path, static_cast<int>(nvlinks)});
}

Error Invalid(std::string_view what, const FieldReader& fields) {
  return {ErrorCode::kInvalid, fmt::format("{}: {}", what, fmt::join(fields.findings(), "; "))};
}

}  // namespace

std::string WriteGpuInventory(const NodeGpus& gpus) {
  std::string list = "[";
  for (size_t i = 0; i < gpus.inventory.gpus().size(); ++i) {
    if (i > 0) list += ',';
    ObjectWriter object(list);
    WriteGpuFields(object, gpus.inventory.gpus()[i]);
    const bool healthy = i >= gpus.health.size() || gpus.health[i].healthy;
    object.Raw("healthy", healthy ? "true" : "false");
    object.End();
  }
  list += ']';
  std::string out;
  ObjectWriter object(out);
  object.Number("version", kVersion);
  WriteMachineFields(object, gpus.inventory);
  object.Raw("gpus", list);
  object.Raw("links", LinksToJson(gpus.inventory));
  object.Raw("labels", List(gpus.owned_labels, Quote));
  if (gpus.replicas > 0) object.Number("replicas", gpus.replicas);
  if (gpus.in_turns) object.Raw("turns", "true");
  object.End();
  return out;
}

Result<NodeGpus> ReadGpuInventory(std::string_view text) {
  if (text.size() > kLongestGpuInventory) {
    return Fail(ErrorCode::kInvalid, fmt::format("{}: longer than {} bytes",
                                                 kGpuInventoryAnnotation, kLongestGpuInventory));
  }
  const Result<Document> document = Document::Parse(text);
  if (!document) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("{}: {}", kGpuInventoryAnnotation, document.error().message));
  }
  FieldReader fields(document->root());
  const Value root = fields.Object(document->root());
  // A new version changes the meaning of present members. Additions do not need a new version.
  fields.Integer(root["version"], kVersion, kVersion);
  if (root["version"].absent()) fields.ReportMissing(root, "version");
  std::vector<Gpu> list;
  NodeGpus gpus;
  fields.Array(root["gpus"]).ForEachElement([&](Value element) {
    if (list.size() == kMostGpusOfNode) return fields.Report(element, "is one GPU too many");
    bool healthy = true;
    list.push_back(ReadGpu(fields, element, healthy));
    gpus.health.push_back({healthy, {}});
  });
  gpus.inventory = GpuInventory(std::move(list));
  gpus.inventory.driver_version = ReadText(fields, root["driver"]);
  gpus.inventory.cuda_version = ReadText(fields, root["cuda"]);
  fields.Array(root["links"]).ForEachElement([&](Value element) {
    ReadLink(fields, element, gpus.inventory);
  });
  fields.Array(root["labels"]).ForEachElement([&](Value element) {
    gpus.owned_labels.push_back(ReadText(fields, element));
  });
  gpus.replicas = static_cast<int>(fields.Integer(root["replicas"], 0, kMostReplicas));
  gpus.in_turns = fields.Truth(root["turns"]);
  if (!fields.ok()) return Fail(Invalid(kGpuInventoryAnnotation, fields));
  return gpus;
}

Result<NodeGpuMetadata> ReadNodeGpuMetadata(std::string_view node) {
  const Result<Document> document = Document::Parse(node);
  if (!document) return Fail(document.error());
  FieldReader fields(document->root());
  const Value metadata = fields.Object(fields.Object(document->root())["metadata"]);
  NodeGpuMetadata read;
  fields.Object(metadata["labels"]).ForEachMember([&](std::string_view name, Value value) {
    read.labels[std::string(name)] = ReadText(fields, value);
  });
  read.gpu_inventory =
      ReadText(fields, fields.Object(metadata["annotations"])[kGpuInventoryAnnotation]);
  if (!fields.ok()) return Fail(Invalid("node", fields));
  return read;
}

std::string WriteNodeGpuPatch(const NodeLabelChange& labels, std::string_view gpu_inventory) {
  std::string changes;
  ObjectWriter label_object(changes);
  for (const auto& [name, value] : labels.changes)
    label_object.Raw(name, value ? Quote(*value) : "null");
  label_object.End();
  std::string annotations;
  ObjectWriter annotation_object(annotations);
  annotation_object.Text(kGpuInventoryAnnotation, gpu_inventory);
  annotation_object.End();
  return fmt::format(R"({{"metadata":{{"labels":{},"annotations":{}}}}})", changes, annotations);
}

std::string WriteGpuReport(const GpuInventory& inventory, const Advertisement& advertisement,
                           const std::map<unsigned, std::string>& unreachable) {
  std::string gpus = "[";
  for (const Gpu& gpu : inventory.gpus()) {
    if (gpus.size() > 1) gpus += ',';
    ObjectWriter object(gpus);
    WriteGpuFields(object, gpu);
    object.Raw("deviceNodes", List(gpu.device_nodes, Quote));
    object.End();
  }
  gpus += ']';
  std::string resources;
  ObjectWriter resource_object(resources);
  for (const auto& [name, devices] : advertisement.resources) {
    resource_object.Raw(name, List(devices, [](const GpuDevice& device) {
                          std::string out;
                          ObjectWriter object(out);
                          object.Text("id", device.id);
                          object.Raw("healthy", device.health.healthy ? "true" : "false");
                          if (!device.health.reason.empty())
                            object.Text("reason", device.health.reason);
                          object.End();
                          return out;
                        }));
  }
  resource_object.End();
  std::string out;
  ObjectWriter object(out);
  WriteMachineFields(object, inventory);
  object.Raw("gpus", gpus);
  object.Raw("links", LinksToJson(inventory));
  object.Raw("sharedDeviceNodes", List(inventory.shared_device_nodes, Quote));
  object.Raw("resources", resources);
  object.Raw("leftOut", List(advertisement.left_out, [](const auto& entry) {
               return Quote(entry.first + ": " + entry.second);
             }));
  object.Raw("unreachable", List(unreachable, [](const auto& entry) {
               return Quote(fmt::format("index {}: {}", entry.first, entry.second));
             }));
  object.End();
  return out;
}

std::string WriteCdiSpec(std::string_view kind, const std::vector<CdiDevice>& devices) {
  const auto device_to_json = [](const CdiDevice& device) {
    const std::string nodes = List(device.device_nodes, [](const std::string& path) {
      return fmt::format(R"({{"path":{}}})", Quote(path));
    });
    return fmt::format(R"({{"name":{},"containerEdits":{{"deviceNodes":{}}}}})", Quote(device.name),
                       nodes);
  };
  return fmt::format(R"({{"cdiVersion":"0.5.0","kind":{},"devices":{}}})", Quote(kind),
                     List(devices, device_to_json));
}

Result<> CheckCdiSpec(std::string_view text, std::string_view ours) {
  struct Spec {
    std::string kind;
    std::set<std::string> devices;
  };
  const auto read = [](std::string_view json) -> Result<Spec> {
    const Result<Document> document = Document::Parse(json);
    if (!document) return Fail(document.error());
    FieldReader fields(document->root());
    const Value root = fields.Object(document->root());
    Spec spec{ReadText(fields, root["kind"]), {}};
    fields.Array(root["devices"]).ForEachElement([&](Value element) {
      spec.devices.insert(ReadText(fields, fields.Object(element)["name"]));
    });
    if (!fields.ok()) return Fail(Invalid("CDI specification", fields));
    return spec;
  };
  const Result<Spec> theirs = read(text);
  if (!theirs) return Fail(theirs.error());
  const Result<Spec> wanted = read(ours);
  if (!wanted) return Fail(wanted.error());
  if (theirs->kind != wanted->kind)
    return Fail(ErrorCode::kInvalid, fmt::format("the kind is \"{}\"", theirs->kind));
  for (const std::string& device : wanted->devices)
    if (!theirs->devices.contains(device))
      return Fail(ErrorCode::kInvalid, fmt::format("device {} is missing", device));
  return {};
}

}  // namespace synergy::wire
