#include "config/inventory_file.h"

#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include "config/text_file.h"
#include "config/yaml_fields.h"
#include "config/yaml_values.h"

namespace synergy::config {
namespace {

constexpr size_t kLongestFile = size_t{1} << 20;
constexpr size_t kLongestText = 256;
constexpr size_t kMostDeviceNodes = 32;
constexpr int64_t kMostNvLinks = 256;
constexpr int64_t kMostNumaNodes = 1024;

std::string ShortText(const YAML::Node& node, const std::string& field) {
  std::string text = Scalar(node, field);
  if (text.size() > kLongestText)
    Reject(node, fmt::format("{}: longer than {} characters", field, kLongestText));
  return text;
}

// Returns a device id that the kubelet accepts and that fits in a log or a label.
std::string Id(const YAML::Node& node, const std::string& field) {
  std::string id = Scalar(node, field);
  constexpr const char* kAllowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:/";
  if (id.empty() || id.size() > kLongestDeviceId ||
      id.find_first_not_of(kAllowed) != std::string::npos) {
    Reject(node, fmt::format("{}: an id has 1 to {} letters, digits and any of -_.:/", field,
                             kLongestDeviceId));
  }
  return id;
}

YAML::Node ListOf(const YAML::Node& node, const std::string& field, size_t most) {
  if (!node.IsSequence()) Reject(node, field + ": expected a list");
  if (node.size() > most) Reject(node, fmt::format("{}: more than {} entries", field, most));
  return node;
}

std::vector<std::string> Paths(const YAML::Node& node, const std::string& field) {
  std::vector<std::string> paths;
  for (const YAML::Node& entry : ListOf(node, field, kMostDeviceNodes)) {
    paths.push_back(ShortText(entry, field));
    if (!paths.back().starts_with('/')) Reject(entry, field + ": expected absolute paths");
  }
  return paths;
}

class InventoryReader {
 public:
  InventoryFile Read(const YAML::Node& root) {
    std::vector<Gpu> gpus;
    std::string driver;
    std::string cuda;
    std::vector<std::string> shared;
    int nvlinks = 0;
    YAML::Node links;
    ReadFields(root, "",
               {{"driverVersion", [&](const auto& n, const auto& f) { driver = ShortText(n, f); }},
                {"cudaVersion", [&](const auto& n, const auto& f) { cuda = ShortText(n, f); }},
                {"sharedDeviceNodes", [&](const auto& n, const auto& f) { shared = Paths(n, f); }},
                {"nvlinks",
                 [&](const auto& n, const auto& f) {
                   nvlinks = static_cast<int>(ToInteger(n, f, 0, kMostNvLinks));
                 }},
                {"gpus",
                 [&](const auto& n, const auto& f) {
                   for (const YAML::Node& entry : ListOf(n, f, kMostGpusOfNode))
                     gpus.push_back(ReadGpu(entry));
                 }},
                {"links", [&](const auto& n, const auto&) { links.reset(n); }}});
    file_.inventory = GpuInventory(std::move(gpus));
    file_.inventory.driver_version = driver;
    file_.inventory.cuda_version = cuda;
    file_.inventory.shared_device_nodes = shared;
    if (nvlinks > 0) LinkAll(nvlinks);
    constexpr size_t kMostLinks = kMostGpusOfNode * kMostGpusOfNode;
    if (!links.IsNull())
      for (const YAML::Node& entry : ListOf(links, "links", kMostLinks)) ReadLink(entry);
    return std::move(file_);
  }

 private:
  Gpu ReadGpu(const YAML::Node& node) {
    Gpu gpu;
    std::string why;
    ReadFields(
        node, "gpus.",
        {{"uuid", [&](const auto& n, const auto& f) { gpu.uuid = NewId(n, f); }},
         {"product", [&](const auto& n, const auto& f) { gpu.product = ShortText(n, f); }},
         {"memory", [&](const auto& n, const auto& f) { gpu.memory = Bytes(ToByteCount(n, f)); }},
         {"numaNode",
          [&](const auto& n, const auto& f) {
            gpu.numa_node = static_cast<int>(ToInteger(n, f, kNoNuma, kMostNumaNodes));
          }},
         {"pciId", [&](const auto& n, const auto& f) { gpu.pci_id = ShortText(n, f); }},
         {"computeCapability",
          [&](const auto& n, const auto& f) {
            gpu.compute_capability = ParseComputeCapability(ShortText(n, f));
            if (!gpu.compute_capability) Reject(n, f + ": expected major.minor, as in \"8.0\"");
          }},
         {"deviceNodes", [&](const auto& n, const auto& f) { gpu.device_nodes = Paths(n, f); }},
         {"unhealthy", [&](const auto& n, const auto& f) { why = ShortText(n, f); }},
         {"migDevices", [&](const auto& n, const auto& f) {
            gpu.mig_enabled = true;
            for (const YAML::Node& entry : ListOf(n, f, kMostMigDevicesPerGpu))
              gpu.mig_devices.push_back(ReadMigDevice(entry, f + "."));
          }}});
    if (gpu.uuid.empty() || gpu.product.empty())
      Reject(node, "gpus: an entry needs uuid and product");
    if (!why.empty()) file_.unhealthy[gpu.uuid] = why;
    return gpu;
  }

  MigDevice ReadMigDevice(const YAML::Node& node, const std::string& prefix) {
    MigDevice device;
    ReadFields(
        node, prefix,
        {{"uuid", [&](const auto& n, const auto& f) { device.uuid = NewId(n, f); }},
         {"profile", [&](const auto& n, const auto& f) { device.profile = ShortText(n, f); }},
         {"memory",
          [&](const auto& n, const auto& f) { device.memory = Bytes(ToByteCount(n, f)); }},
         {"deviceNodes",
          [&](const auto& n, const auto& f) { device.device_nodes = Paths(n, f); }}});
    if (device.uuid.empty() || device.profile.empty())
      Reject(node, prefix + ": an entry needs uuid and profile");
    return device;
  }

  std::string NewId(const YAML::Node& node, const std::string& field) {
    std::string id = Id(node, field);
    if (!ids_.insert(id).second) Reject(node, fmt::format("{}: {} occurs twice", field, id));
    return id;
  }

  void LinkAll(int nvlinks) {
    for (size_t a = 0; a < file_.inventory.gpus().size(); ++a) {
      for (size_t b = a + 1; b < file_.inventory.gpus().size(); ++b)
        file_.inventory.SetLink(a, b, {file_.inventory.link(a, b).path, nvlinks});
    }
  }

  void ReadLink(const YAML::Node& node) {
    std::vector<size_t> ends;
    std::optional<PciPath> path;
    std::optional<int> nvlinks;
    ReadFields(node, "links.",
               {{"between",
                 [&](const auto& n, const auto& f) {
                   for (const YAML::Node& entry : ListOf(n, f, 2)) {
                     const auto gpu = file_.inventory.Find(Scalar(entry, f));
                     if (!gpu) Reject(entry, f + ": there is no such GPU");
                     ends.push_back(*gpu);
                   }
                 }},
                {"path",
                 [&](const auto& n, const auto& f) {
                   const auto parsed = ParsePciPath(Scalar(n, f));
                   if (!parsed) Reject(n, fmt::format("{}: {}", f, parsed.error().message));
                   path = *parsed;
                 }},
                {"nvlinks", [&](const auto& n, const auto& f) {
                   nvlinks = static_cast<int>(ToInteger(n, f, 0, kMostNvLinks));
                 }}});
    if (ends.size() != 2 || ends[0] == ends[1])
      Reject(node, "links.between: expected two different GPUs");
    GpuLink link = file_.inventory.link(ends[0], ends[1]);
    if (path) link.path = *path;
    if (nvlinks) link.nvlinks = *nvlinks;
    file_.inventory.SetLink(ends[0], ends[1], link);
  }

  InventoryFile file_;
  std::set<std::string> ids_;
};

}  // namespace

Result<InventoryFile> ParseInventoryFile(const std::string& yaml, const std::string& name) {
  const auto fail = [&name](const Problem& problem) {
    return Fail(ErrorCode::kInvalid, fmt::format("{}:{}: {}", name, problem.line, problem.text));
  };
  if (yaml.size() > kLongestFile) return fail({1, 1, "the file is too long"});
  try {
    return InventoryReader().Read(YAML::Load(yaml));
  } catch (const Problem& problem) {
    return fail(problem);
  } catch (const YAML::Exception& problem) {
    return fail(ProblemAt(problem.mark, problem.msg));
  }
}

Result<InventoryFile> LoadInventoryFile(const std::string& file) {
  return ParseTextFile(file, ParseInventoryFile);
}

}  // namespace synergy::config
