#pragma once

// The objects in which a program keeps its certificates: Secrets, and the authorities in webhook
// configurations.
//
// Threading: pure.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace synergy::wire {

struct Secret {
  std::string resource_version;
  std::map<std::string, std::string> data;  // decoded; omits values that are not base64
};

Result<Secret> ReadSecret(std::string_view text);
// Returns the merge patch that sets these keys, removes those with empty values, and keeps all
// others. The API server refuses it (409) if the Secret has changed since `seen`.
std::string WriteSecretPatch(const Secret& seen, const std::map<std::string, std::string>& data);

// The authorities that each webhook of a configuration trusts.
struct WebhookAuthorities {
  std::string resource_version;
  std::vector<std::string> bundles;  // PEM, decoded; empty: none
};

Result<WebhookAuthorities> ReadWebhookAuthorities(std::string_view text);
// Returns the JSON patch that sets the authority of all webhooks and nothing else. The API server
// refuses it if the configuration has changed since `seen`.
std::string WriteWebhookAuthorities(const WebhookAuthorities& seen, std::string_view pem);

}  // namespace synergy::wire
