#include "wire/pods/moves.h"

#include <array>
#include <utility>

#include <fmt/format.h>

#include "queues/kueue.h"
#include "wire/base/config_map.h"
#include "wire/base/json_words.h"
#include "wire/base/member_text.h"
#include "wire/base/metadata.h"
#include "wire/objects/kind.h"
#include "wire/objects/object_readers.h"

namespace synergy::wire {

template <>
inline constexpr std::array<std::string_view, 2> kWords<MovePhase>{"Begun", "Ended"};

void Members(auto& each, Like<MoveRecord> auto& record) {
  auto& [owner, job, workload, waiter, kind, pods, nodes, at, rate, phase, compared] = record;
  each("owner", owner);
  each("job", job);
  each("workload", workload);
  each("waiter", waiter);
  each("kind", kind);
  each("pods", pods);
  each("nodes", nodes);
  each("at", at);
  each("rate", rate);
  each("phase", phase);
  each("compared", compared);
}

void Members(auto& each, Like<WorsePlacement> auto& placement) {
  auto& [workload, kind] = placement;
  each("workload", workload);
  each("kind", kind);
}

namespace {

constexpr std::string_view kMovesData = "moves.json";
constexpr size_t kLongestOwner = 253;
constexpr size_t kLongestOwnerUid = 128;

struct MoveEntries {
  std::vector<MoveRecord> moves;
  std::vector<WorsePlacement> worse;
};
void Members(auto& each, Like<MoveEntries> auto& entries) {
  each("moves", entries.moves);
  each("worse", entries.worse);
}

std::string DataOf(const PublishedMoves& moves) {
  return DataWith(kMovesData, WriteMembers(MoveEntries{moves.moves, moves.worse}));
}

// The API server accepts any text in ownerReferences. An invalid owner counts as none.
ObjectOwner ReadMovingOwner(FieldReader& fields, Value metadata) {
  ObjectOwner owner;
  fields.Array(metadata["ownerReferences"]).ForEachElement([&](Value reference) {
    reference = fields.Object(reference);
    if (!fields.Truth(reference["controller"])) return;
    owner = {ReadText(fields, reference["apiVersion"]), ReadText(fields, reference["kind"]),
             ReadText(fields, reference["name"]), ReadText(fields, reference["uid"])};
  });
  const bool is_possible =
      owner.api_version.size() <= kLongestOwner && owner.kind.size() <= kLongestOwner &&
      owner.name.size() <= kLongestOwner && owner.uid.size() <= kLongestOwnerUid;
  return is_possible ? owner : ObjectOwner{};
}

bool IgnoresDisruption(FieldReader& fields, Value policy) {
  bool ignores = false;
  bool other_first = false;  // a rule with another action may match before
  fields.Array(policy["rules"]).ForEachElement([&](Value rule) {
    rule = fields.Object(rule);
    if (fields.Text(rule["action"]) != "Ignore") {
      other_first |= !ignores;
      return;
    }
    fields.Array(rule["onPodConditions"]).ForEachElement([&](Value condition) {
      condition = fields.Object(condition);
      const Value status = condition["status"];
      ignores |= !other_first && fields.Text(condition["type"]) == "DisruptionTarget" &&
                 (status.absent() || fields.Text(status) == "True");
    });
  });
  return ignores;
}

}  // namespace

template <>
struct Kind<MovablePod> {
  static constexpr std::string_view kName = "pod";
  static MovablePod Read(FieldReader& fields, Value object, const PodRules&) {
    const Value metadata = fields.Object(object["metadata"]);
    // Record no problems, because the watch of all pods reports them.
    FieldReader lenient(object);
    const Value annotations = metadata["annotations"];
    MovablePod pod;
    pod.uid = ReadText(fields, metadata["uid"]);
    pod.moves = lenient.Text(annotations[kMovesAnnotation]) == "true";
    pod.owner = ReadMovingOwner(lenient, metadata);
    if (!pod.moves) return pod;
    pod.checkpoints = lenient.Text(annotations[kCheckpointAnnotation]) == "true";
    pod.selection = std::make_shared<const NodeSelection>(
        ReadNodeSelection(lenient, fields.Object(object["spec"])));
    return pod;
  }
};
template struct KindReader<MovablePod>;

Result<MovableOwner> ReadMovableOwner(std::string_view text) {
  const Result<Document> document = Document::Parse(text);
  if (!document) return Fail(document.error());
  if (!document->root().IsObject()) return Fail(ErrorCode::kInvalid, "not an object");
  FieldReader fields(document->root());
  const Value metadata = fields.Object(document->root()["metadata"]);
  const Value spec = fields.Object(document->root()["spec"]);
  const Value suspend = spec["suspend"];
  return MovableOwner{
      .uid = ReadText(fields, metadata["uid"]),
      .ignores_disruption = IgnoresDisruption(fields, fields.Object(spec["podFailurePolicy"])),
      .ends = ReadDeleting(fields, metadata) || (!suspend.absent() && fields.Truth(suspend))};
}

std::string WriteNewMoves(const PublishedMoves& moves) {
  return NewConfigMap(kMovesName, DataOf(moves));
}

std::string WriteMovesPatch(const PublishedMoves& moves) {
  return DataPatch(moves.resource_version, DataOf(moves));
}

Result<PublishedMoves> ReadMoves(std::string_view text) {
  const Result<Document> document = Document::Parse(text);
  if (!document) return Fail(document.error());
  FieldReader fields(document->root());
  PublishedMoves moves;
  moves.resource_version =
      ReadText(fields, fields.Object(document->root()["metadata"])["resourceVersion"]);
  auto entries =
      ReadMembers<MoveEntries>(fields.Text(fields.Object(document->root()["data"])[kMovesData]));
  if (!entries) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("ConfigMap {}, {}: {}; delete the ConfigMap to begin without a record",
                            kMovesName, kMovesData, entries.error().message));
  }
  moves.moves = std::move(entries->moves);
  moves.worse = std::move(entries->worse);
  if (moves.moves.size() > PublishedMoves::kMost ||
      moves.worse.size() > PublishedMoves::kMostWorse) {
    return Fail(ErrorCode::kInvalid, fmt::format("ConfigMap {}: too many entries", kMovesName));
  }
  return moves;
}

}  // namespace synergy::wire
