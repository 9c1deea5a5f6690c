#pragma once

// The parts of one filter call: the nodes that kube-scheduler asks about, the verdict for each, and
// the texts of the refusals.
//
// Threading: each call has its own objects. Ownership: they refer to the call's arguments, which
// must outlive them; returned texts and nodes refer to the objects.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "allocation/asked_nodes.h"
#include "allocation/candidates.h"
#include "cluster/pod.h"
#include "cluster/state/cluster_snapshot.h"
#include "cluster/state/cluster_state.h"
#include "core/clock.h"
#include "engine/reservations/passing_check.h"
#include "wire/extender/extender_messages.h"
#include "wire/objects/objects.h"

namespace synergy::extender {

// Returns the node on which `snapshot` counts the pod; nullopt if there is none.
std::optional<NodeIndex> CountedOn(const ClusterState& state, const ClusterSnapshot& snapshot,
                                   const std::string& uid);

class RequestedNodes final : public AskedNodes {
 public:
  RequestedNodes(const wire::ExtenderArgs& args, const wire::ObjectReader& reader)
      : args_(args), reader_(reader) {}

  size_t size() const override { return args_.size(); }
  std::string_view Name(size_t i) const override { return args_.Name(i); }
  std::optional<Node> Sent(size_t i) const override {
    if (!args_.whole_nodes) return std::nullopt;
    auto node = reader_.ReadNode(args_.node_objects[i]);
    return node ? std::optional(*std::move(node)) : std::nullopt;
  }

 private:
  const wire::ExtenderArgs& args_;
  const wire::ObjectReader& reader_;
};

// The requested nodes that are open to the pod, and the reservations that close the others.
class OpenNodes final : public AskedNodes {
 public:
  // `terms`: nullopt if no GPUs are reserved.
  OpenNodes(const AskedNodes& asked, const Pod& pod, const std::optional<PassingTerms>& terms,
            const ClusterSnapshot& snapshot);

  size_t size() const override { return open_.size(); }
  std::string_view Name(size_t i) const override { return asked_.Name(open_[i]); }
  std::optional<Node> Sent(size_t i) const override { return asked_.Sent(open_[i]); }
  // Returns the reservation that closes the i-th node of the request; null if the node is open.
  const GpuReservation* RefusedBy(size_t i) const { return refused_by_[i]; }

 private:
  const AskedNodes& asked_;
  std::vector<const GpuReservation*> refused_by_;
  std::vector<size_t> open_;
};

// The texts of refusals for lack of room. Equal texts are stored once.
class Reasons {
 public:
  Reasons(const Resources& requests, std::string_view gpu_resource)
      : requests_(requests), gpu_(gpu_resource) {}

  std::string_view Text(const Candidates::Candidate& node);

 private:
  using Cause = std::pair<uint16_t, uint64_t>;  // bits of failures, and of lacking resources

  const Resources& requests_;
  std::string_view gpu_;
  std::deque<std::pair<Cause, std::string>> known_;
};

// The texts of refusals by GPU reservations. Equal texts are stored once.
class RefusalTexts {
 public:
  RefusalTexts(const std::optional<PassingTerms>& terms, WallTime wall)
      : terms_(terms), wall_(wall) {}

  std::string_view Text(const GpuReservation& by) {
    const auto [text, is_new] = texts_.try_emplace(&by);
    if (is_new) text->second = DescribeRefusal(by, *terms_, wall_);
    return text->second;
  }
  bool empty() const { return texts_.empty(); }

 private:
  const std::optional<PassingTerms>& terms_;
  const WallTime wall_;
  std::map<const GpuReservation*, std::string> texts_;
};

// The verdicts for the nodes of a call.
class FilterCall {
 public:
  // `terms`: nullopt if no GPUs are reserved.
  FilterCall(const ClusterState& state, const wire::ExtenderArgs& args, const AskedNodes& asked,
             const std::optional<PassingTerms>& terms, std::string_view gpu_resource, WallTime wall)
      : state_(state),
        args_(args),
        asked_(asked),
        terms_(terms),
        reasons_(args.pod.requests, gpu_resource),
        refusals_(terms, wall) {}

  // Judges all nodes by the present snapshot. Call it first, and again when the cluster may have
  // changed.
  void Judge();
  // Replaces the reason why the i-th node is refused. REQUIRES: !Fits().
  void Refuse(size_t i, std::string reason);

  const Pod& pod() const { return args_.pod; }
  const AskedNodes& asked() const { return asked_; }
  const ClusterSnapshot& snapshot() const { return *snapshot_; }
  std::optional<NodeIndex> counted_on() const { return counted_on_; }
  // Returns whether the pod fits on a node.
  bool Fits() const { return !fitting_.empty(); }
  // Returns the nodes where the pod fits, as positions in the request.
  const std::vector<size_t>& fitting() const { return fitting_; }
  // Returns the last node of fitting(); nullopt if there is none or the snapshot lacks it.
  std::optional<NodeIndex> last_fitting() const { return last_fitting_; }
  const std::vector<wire::FailedNode>& failed() const { return failed_; }
  // Returns whether a node is refused because of a GPU reservation.
  bool names_reservation() const { return !refusals_.empty(); }

  std::vector<std::string_view> Answers() const;
  std::vector<std::string> FittingNames() const;
  // Returns whether a refused node may have room soon. A node that is refused only because of a
  // reservation does not count.
  bool MayFitSoon() const;
  // Returns the nodes that no reservation closes to the pod.
  OpenNodes Open() const { return OpenNodes(asked_, args_.pod, terms_, *snapshot_); }
  Candidates Look() const { return Candidates(*snapshot_, args_.pod, counted_on_, asked_); }

 private:
  const ClusterState& state_;
  const wire::ExtenderArgs& args_;
  const AskedNodes& asked_;
  const std::optional<PassingTerms>& terms_;
  Reasons reasons_;
  RefusalTexts refusals_;
  std::deque<std::string> own_reasons_;
  std::shared_ptr<const ClusterSnapshot> snapshot_;
  std::optional<NodeIndex> counted_on_;
  std::vector<size_t> fitting_;
  std::optional<NodeIndex> last_fitting_;
  std::vector<wire::FailedNode> failed_;
};

}  // namespace synergy::extender
