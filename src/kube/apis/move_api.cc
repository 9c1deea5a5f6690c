#include "kube/apis/move_api.h"

#include <utility>

#include <fmt/format.h>

#include "kube/listing.h"

namespace synergy::kube {
namespace {

class HttpMoveApi final : public MoveApi {
 public:
  HttpMoveApi(ApiClient& reading, ApiClient& writing, const std::string& own_namespace)
      : reading_(reading),
        writing_(writing),
        config_maps_(fmt::format("/api/v1/namespaces/{}/configmaps", Escape(own_namespace))) {}

  Result<wire::MovableOwner> ReadJob(const std::string& its_namespace, const std::string& name,
                                     std::stop_token stop) override {
    const Result<std::string> answer = reading_.Get(
        fmt::format("/apis/batch/v1/namespaces/{}/jobs/{}", Escape(its_namespace), Escape(name)),
        std::move(stop));
    if (!answer) return Fail(answer.error());
    return wire::ReadMovableOwner(*answer);
  }

  Result<PublishedMoves> ReadMoves(std::stop_token stop) override {
    const Result<std::string> answer = reading_.Get(RecordPath(), std::move(stop));
    if (!answer) return Fail(answer.error());
    return wire::ReadMoves(*answer);
  }

  Result<PublishedMoves> WriteMoves(const PublishedMoves& moves, std::stop_token stop) override {
    const Result<std::string> answer =
        moves.resource_version.empty()
            ? writing_.Post(config_maps_, wire::WriteNewMoves(moves), std::move(stop))
            : writing_.Patch(RecordPath(), "application/merge-patch+json",
                             wire::WriteMovesPatch(moves), std::move(stop));
    if (!answer) return Fail(answer.error());
    return wire::ReadMoves(*answer);
  }

 private:
  std::string RecordPath() const { return fmt::format("{}/{}", config_maps_, wire::kMovesName); }

  ApiClient& reading_;
  ApiClient& writing_;
  const std::string config_maps_;
};

}  // namespace

std::unique_ptr<MoveApi> MakeMoveApi(ApiClient& reading, ApiClient& writing,
                                     const std::string& own_namespace) {
  return std::make_unique<HttpMoveApi>(reading, writing, own_namespace);
}

}  // namespace synergy::kube
