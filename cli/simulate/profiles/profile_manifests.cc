#include "cli/simulate/profiles/profile_manifests.h"

#include <charconv>
#include <cmath>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include "config/yaml_fields.h"
#include "json/writer.h"
#include "wire/training_profile.h"

namespace synergy::cli {
namespace {

void WritePlain(const std::string& text, json::Writer& out) {
  const char* const end = text.data() + text.size();
  int64_t whole = 0;
  double number = 0;
  if (text.empty() || text == "~" || text == "null") return out.Raw("null");
  if (text == "true" || text == "false") return out.Truth(text == "true");
  if (const auto read = std::from_chars(text.data(), end, whole);
      read.ec == std::errc() && read.ptr == end)
    return out.Integer(whole);
  if (const auto read = std::from_chars(text.data(), end, number);
      read.ec == std::errc() && read.ptr == end && std::isfinite(number))
    return out.Number(number);
  out.Text(text);
}

void WriteJson(const YAML::Node& node, json::Writer& out) {
  if (node.IsMap()) {
    out.BeginObject();
    for (const auto& entry : node) {
      out.Key(config::Scalar(entry.first, "a field's name"));
      WriteJson(entry.second, out);
    }
    out.EndObject();
  } else if (node.IsSequence()) {
    out.BeginArray();
    for (const YAML::Node& element : node) WriteJson(element, out);
    out.EndArray();
  } else if (node.IsScalar() && node.Tag() == "!") {  // quoted
    out.Text(node.Scalar());
  } else {
    WritePlain(node.IsScalar() ? node.Scalar() : "", out);
  }
}

bool IsObject(const YAML::Node& node) {
  return node.IsMap() && node["kind"].IsDefined() && node["kind"].IsScalar();
}

class ManifestReader {
 public:
  explicit ManifestReader(const std::string& name) : name_(name) {}

  Result<> Add(const YAML::Node& node) {
    if (!IsObject(node)) return {};
    const std::string kind = node["kind"].Scalar();
    if (kind.ends_with("List") && node["items"].IsSequence()) {
      for (const YAML::Node& item : node["items"]) {
        if (auto added = Add(item); !added) return added;
      }
    }
    return kind == "TrainingProfile" ? AddProfile(node) : Result<>();
  }

  Result<std::vector<ProfileObject>> Take() {
    if (!profiles_.empty()) return std::move(profiles_);
    return Fail(ErrorCode::kInvalid,
                fmt::format("{}: no TrainingProfile with measurements", name_));
  }

 private:
  Result<> AddProfile(const YAML::Node& node) {
    json::Writer json;
    WriteJson(node, json);
    auto object = wire::ReadTrainingProfile(json.Take());
    if (!object) return Fail(object.error().code, name_ + ": " + object.error().message);
    const auto wrong = [&](const std::string& what) {
      return Fail(ErrorCode::kInvalid,
                  fmt::format("{}: TrainingProfile {}: {}", name_, object->Key(), what));
    };
    if (object->name.empty()) return wrong("metadata.name is missing");
    if (!object->problems.empty()) return wrong(object->problems.front());
    if (!object->profile) return {};
    if (!names_.insert(object->name).second)
      return wrong("an earlier one has the same name: leave one of them out");
    object->training.gpu_product.clear();
    profiles_.push_back(*std::move(object));
    return {};
  }

  const std::string& name_;
  std::vector<ProfileObject> profiles_;
  std::set<std::string> names_;
};

}  // namespace

Result<std::optional<std::vector<ProfileObject>>> ParseProfileManifests(const std::string& text,
                                                                        const std::string& name) {
  try {
    const std::vector<YAML::Node> documents = YAML::LoadAll(text);
    bool any = false;
    ManifestReader reader(name);
    for (const YAML::Node& document : documents) {
      any |= IsObject(document);
      if (auto added = reader.Add(document); !added) return Fail(added.error());
    }
    if (!any) return std::nullopt;
    auto profiles = reader.Take();
    if (!profiles) return Fail(profiles.error());
    return std::optional(*std::move(profiles));
  } catch (const config::Problem& problem) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("{}:{}:{}: {}", name, problem.line, problem.column, problem.text));
  } catch (const YAML::Exception&) {
    return std::nullopt;  // the reader of the other form reports the position
  }
}

}  // namespace synergy::cli
