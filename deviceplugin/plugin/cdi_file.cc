#include "deviceplugin/plugin/cdi_file.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "config/text_file.h"
#include "deviceplugin/plugin/command.h"
#include "wire/objects/gpu_inventory.h"

namespace synergy::deviceplugin {
namespace {

constexpr std::chrono::seconds kLongestCommand{20};
// The first and the longest pause between a failure of the command and the next try.
constexpr Duration kFirstCommandPause = std::chrono::minutes(1);
constexpr Duration kLongestCommandPause = std::chrono::hours(1);

std::string FileName(std::string kind) {
  std::replace(kind.begin(), kind.end(), '/', '-');
  return kind + ".json";
}

void Append(std::vector<std::string>& paths, const std::vector<std::string>& more) {
  paths.insert(paths.end(), more.begin(), more.end());
}

std::string WritePlain(const std::string& kind, const GpuInventory& inventory) {
  std::vector<wire::CdiDevice> devices;
  const auto add = [&](const std::string& name, const Gpu& gpu,
                       const std::vector<std::string>& nodes) {
    wire::CdiDevice& device = devices.emplace_back();
    device.name = name;
    for (const auto* list : {&gpu.device_nodes, &nodes, &inventory.shared_device_nodes})
      Append(device.device_nodes, *list);
  };
  for (const Gpu& gpu : inventory.gpus()) {
    if (!gpu.mig_enabled) add(gpu.uuid, gpu, {});
    for (const MigDevice& part : gpu.mig_devices)
      if (!part.device_nodes.empty()) add(part.uuid, gpu, part.device_nodes);
  }
  return wire::WriteCdiSpec(kind, devices);
}

}  // namespace

CdiFile::CdiFile(const std::string& folder, std::string kind, std::vector<std::string> command,
                 const Clock& clock, Logger& log)
    : folder_(folder),
      kind_(std::move(kind)),
      file_(folder_ + "/" + FileName(kind_)),
      command_(std::move(command)),
      clock_(clock),
      log_(log),
      pauses_(kFirstCommandPause, kLongestCommandPause, 0) {}

Result<> CdiFile::Write(const GpuInventory& inventory) {
  std::string plain = WritePlain(kind_, inventory);
  const bool changed = plain != plain_;
  if (changed || (again_ && clock_.Now() >= *again_)) {
    if (changed) pauses_.Reset();
    const Result<std::string> complete = Complete(plain);
    const Result<std::string> there = config::ReadTextFile(file_);
    // A complete file of an earlier run is better than one without the driver's libraries.
    const bool is_covered = !command_.empty() && there && wire::CheckCdiSpec(*there, plain);
    text_ = complete ? *complete : is_covered ? *there : plain;
    plain_ = std::move(plain);
    again_.reset();
    if (!complete && !command_.empty()) again_ = clock_.Now() + pauses_.Next();
    const std::string problem = complete ? "" : complete.error().message;
    if (problem != problem_ && !complete) {
      log_.Warn("the CDI specification has only device nodes: images need the driver's libraries",
                {{"reason", problem}});
    }
    problem_ = problem;
  }
  if (const Result<std::string> present = config::ReadTextFile(file_); present && *present == text_)
    return {};
  // Runtimes read every *.json file of the folder, so an incomplete file must not have such a name.
  return config::WriteWholeFile(file_, text_);
}

Result<std::string> CdiFile::Complete(const std::string& plain) const {
  if (command_.empty()) return Fail(ErrorCode::kNotFound, "cdi.command is empty");
  std::vector<std::string> command = command_;
  const size_t slash = kind_.find('/');
  Append(command, {"cdi", "generate", "--format", "json", "--device-name-strategy", "uuid",
                   "--vendor", kind_.substr(0, slash), "--class", kind_.substr(slash + 1)});
  Result<std::string> complete = RunCommand(command, kLongestCommand);
  if (!complete) return complete;
  const Result<> covers = wire::CheckCdiSpec(*complete, plain);
  if (!covers)
    return Fail(ErrorCode::kInvalid, fmt::format("{}: {}", command[0], covers.error().message));
  log_.Info("the CDI specification is complete", {{"by", command[0]}});
  return complete;
}

}  // namespace synergy::deviceplugin
