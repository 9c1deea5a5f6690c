#include "deviceplugin/plugin/kubelet_endpoint.h"

#include <chrono>
#include <filesystem>
#include <functional>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/backoff.h"

namespace synergy::deviceplugin {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kFirstRetry{100};
constexpr milliseconds kLongestRetry{500};
// Fallback for changes that the folder watch may miss.
constexpr milliseconds kRegularLook{1000};
// How long after its answer, or the end of the wait for it, the kubelet may take to open its
// stream. A kubelet that is starved of CPU takes seconds.
constexpr milliseconds kStreamGrace{10'000};
// How long to wait before the next registration if the stream ended right after the last one.
constexpr milliseconds kPause{1000};
constexpr milliseconds kRegisterTimeout{5000};
constexpr milliseconds kKubeletGrace{500};
// In bytes. A list of 1024 ids of 63 characters takes a tenth of that.
constexpr int kLargestMessage = 1 << 20;
constexpr int kMostConcurrentCalls = 64;

// Removes sockets of this resource that an earlier process left behind.
void RemoveLeftSockets(const std::string& folder, const std::string& resource) {
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failed)) {
    if (IsSocketNameFor(entry.path().filename(), resource) && !IsServed(entry.path()))
      unlink(entry.path().c_str());
  }
}

}  // namespace

KubeletEndpoint::KubeletEndpoint(std::string folder, std::string resource,
                                 std::shared_ptr<const Offer> offer, RegistrationGate gate,
                                 const Clock& clock, Logger& log, metrics::DeviceMetrics& metrics)
    : folder_(std::move(folder)),
      resource_(std::move(resource)),
      gate_(std::move(gate)),
      clock_(clock),
      log_(log),
      metrics_(metrics),
      watch_(folder_),
      offer_(std::move(offer)) {
  thread_ = std::jthread([this](const std::stop_token& stop) { Run(stop); });
}

KubeletEndpoint::~KubeletEndpoint() {
  thread_.request_stop();
  thread_.join();
}

void KubeletEndpoint::Publish(std::shared_ptr<const Offer> offer) {
  const std::lock_guard lock(mutex_);
  offer_ = std::move(offer);
  if (service_) service_->Publish(offer_);
}

bool KubeletEndpoint::registered() const {
  const std::lock_guard lock(mutex_);
  return service_ && service_->streams() > 0;
}

void KubeletEndpoint::Run(const std::stop_token& stop) {
  const std::stop_callback wake(stop, [this] { watch_.Wake(); });
  Backoff backoff(kFirstRetry, kLongestRetry, std::hash<std::string>()(resource_));
  std::string problem;
  while (!stop.stop_requested()) {
    const Result<> settled = Settle(stop);
    if (!settled && settled.error().message != problem) {
      problem = settled.error().message;
      log_.Warn("not registered with the kubelet", {{"resource", resource_}, {"why", problem}});
    }
    if (settled) {
      problem.clear();
      backoff.Reset();
    }
    const auto wait =
        settled ? kRegularLook : std::chrono::duration_cast<milliseconds>(backoff.Next());
    watch_.Wait(wait);
  }
  StopServing();
}

Result<> KubeletEndpoint::Settle(const std::stop_token& stop) {
  if (server_ && IdentifySocket(folder_ + "/" + socket_) != served_) {
    log_.Warn("our socket is gone", {{"resource", resource_}, {"socket", socket_}});
    StopServing();
  }
  if (asked_at_ && service_->had_streams()) Accept();
  if (IsRegistered()) return {};
  if (known_) StopServing();
  if (!server_) {
    if (const Result<> served = Serve(); !served) return served;
  }
  if (!IdentifySocket(folder_ + "/" + kKubeletSocket))
    return Fail(ErrorCode::kUnavailable, "there is no kubelet.sock in " + folder_);
  if (const Result<> admitted = gate_.may_register(resource_, socket_); !admitted) return admitted;
  Result<> done = Register(stop);
  metrics_.CountRegistration(resource_, done ? "ok" : ToString(done.error().code));
  const bool is_late = !done && done.error().code == ErrorCode::kTimeout;
  if (done || is_late || service_->had_streams()) asked_at_ = clock_.Now();
  if (done) Accept();
  return done;
}

void KubeletEndpoint::Accept() {
  if (std::exchange(accepted_, true)) return;
  gate_.on_registered(resource_);
  log_.Info("registered with the kubelet", {{"resource", resource_}, {"socket", socket_}});
}

// Returns true also while the kubelet may still open its stream.
bool KubeletEndpoint::IsRegistered() const {
  if (!asked_at_) return false;
  if (service_->streams() > 0) return true;
  return clock_.Now() - *asked_at_ < (service_->had_streams() ? kPause : kStreamGrace);
}

Result<> KubeletEndpoint::Serve() {
  socket_ = MakeSocketName(resource_);
  const std::string path = folder_ + "/" + socket_;
  if (access(folder_.c_str(), F_OK) != 0)
    return Fail(ErrorCode::kUnavailable, "there is no folder " + folder_);
  if (path.size() >= sizeof(sockaddr_un::sun_path)) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("{} is longer than a socket's name may be ({} characters)", path,
                            sizeof(sockaddr_un::sun_path) - 1));
  }
  RemoveLeftSockets(folder_, resource_);
  std::shared_ptr<const Offer> offer;
  {
    const std::lock_guard lock(mutex_);
    offer = offer_;
  }
  auto service = std::make_unique<PluginService>(
      resource_, offer, [this] { watch_.Wake(); }, clock_, log_, metrics_);
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort("unix:" + path, grpc::InsecureServerCredentials(), &port);
  builder.SetMaxReceiveMessageSize(kLargestMessage);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kMostConcurrentCalls);
  builder.RegisterService(service.get());
  std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (!server || port == 0) return Fail(ErrorCode::kUnavailable, "cannot listen on " + path);
  served_ = IdentifySocket(path);
  server_ = std::move(server);
  asked_at_.reset();
  accepted_ = false;
  const std::lock_guard lock(mutex_);
  service_ = std::move(service);
  // Pick up an offer published meanwhile.
  service_->Publish(offer_);
  return {};
}

void KubeletEndpoint::StopServing() {
  if (!server_) return;
  service_->EndStreams();
  server_->Shutdown(std::chrono::system_clock::now() + kKubeletGrace);
  server_.reset();
  served_.reset();
  asked_at_.reset();
  known_ = false;
  const std::lock_guard lock(mutex_);
  service_.reset();
}

Result<> KubeletEndpoint::Register(const std::stop_token& stop) {
  grpc::ChannelArguments arguments;
  // With a shared subchannel, a channel may wait for the backoff of an earlier channel to a kubelet
  // that was down.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  const auto channel = grpc::CreateCustomChannel("unix:" + folder_ + "/" + kKubeletSocket,
                                                 grpc::InsecureChannelCredentials(), arguments);
  const auto stub = v1beta1::Registration::NewStub(channel);
  v1beta1::RegisterRequest request;
  request.set_version("v1beta1");
  request.set_endpoint(socket_);
  request.set_resource_name(resource_);
  request.mutable_options()->set_get_preferred_allocation_available(true);
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kRegisterTimeout);
  const std::stop_callback cancel(stop, [&context] { context.TryCancel(); });
  v1beta1::Empty answer;
  const grpc::Status status = stub->Register(&context, request, &answer);
  known_ = status.error_code() != grpc::StatusCode::UNAVAILABLE;
  if (status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED)
    return Fail(ErrorCode::kTimeout, "the kubelet has not answered the registration yet");
  if (!status.ok()) {
    return Fail(ErrorCode::kUnavailable,
                fmt::format("the kubelet refused the registration: {}", status.error_message()));
  }
  return {};
}

}  // namespace synergy::deviceplugin
