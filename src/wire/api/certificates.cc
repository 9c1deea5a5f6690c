#include "wire/api/certificates.h"

#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "json/base64.h"
#include "wire/base/json_words.h"
#include "wire/base/metadata.h"

namespace synergy::wire {
namespace {

std::string VersionOf(FieldReader& fields, Value root) {
  return ReadText(fields, fields.Object(root["metadata"])["resourceVersion"]);
}

}  // namespace

Result<Secret> ReadSecret(std::string_view text) {
  const Result<Document> document = Document::Parse(text);
  if (!document) return Fail(document.error());
  FieldReader fields(document->root());
  const Value root = fields.Object(document->root());
  Secret secret;
  secret.resource_version = VersionOf(fields, root);
  root["data"].ForEachMember([&secret](std::string_view key, Value value) {
    if (auto bytes = json::FromBase64(value.text()))
      secret.data[std::string(key)] = *std::move(bytes);
  });
  if (!fields.ok()) return Fail(ErrorCode::kInvalid, fields.findings().front());
  return secret;
}

std::string WriteSecretPatch(const Secret& seen, const std::map<std::string, std::string>& data) {
  Writer out;
  out.BeginObject();
  out.Key("metadata");
  out.BeginObject();
  out.Key("resourceVersion");
  out.Text(seen.resource_version);
  out.EndObject();
  out.Key("data");
  out.BeginObject();
  for (const auto& [key, bytes] : data) {
    out.Key(key);
    if (bytes.empty()) {
      out.Raw("null");
    } else {
      out.Text(json::ToBase64(bytes));
    }
  }
  out.EndObject();
  out.EndObject();
  return out.Take();
}

Result<WebhookAuthorities> ReadWebhookAuthorities(std::string_view text) {
  const Result<Document> document = Document::Parse(text);
  if (!document) return Fail(document.error());
  FieldReader fields(document->root());
  const Value root = fields.Object(document->root());
  WebhookAuthorities authorities;
  authorities.resource_version = VersionOf(fields, root);
  root["webhooks"].ForEachElement([&](Value webhook) {
    auto pem = json::FromBase64(webhook["clientConfig"]["caBundle"].text());
    authorities.bundles.push_back(std::move(pem).value_or(""));
  });
  if (!fields.ok()) return Fail(ErrorCode::kInvalid, fields.findings().front());
  return authorities;
}

std::string WriteWebhookAuthorities(const WebhookAuthorities& seen, std::string_view pem) {
  std::string out = R"([{"op":"test","path":"/metadata/resourceVersion","value":)";
  AppendJsonString(out, seen.resource_version);
  out += '}';
  const std::string bundle = json::ToBase64(pem);
  for (size_t index = 0; index < seen.bundles.size(); ++index) {
    out +=
        fmt::format(R"(,{{"op":"add","path":"/webhooks/{}/clientConfig/caBundle","value":"{}"}})",
                    index, bundle);
  }
  return out + "]";
}

}  // namespace synergy::wire
