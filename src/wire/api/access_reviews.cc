#include "wire/api/access_reviews.h"

#include <fmt/format.h>

#include "json/writer.h"
#include "wire/base/json_words.h"
#include "wire/base/metadata.h"
#include "wire/objects/objects.h"

namespace synergy::wire {
namespace {

// Drops the parser's message, which may quote the text, and with it a secret.
Result<Document> ParseSecret(std::string_view text) {
  Result<Document> document = Document::Parse(text);
  if (!document) return Fail(ErrorCode::kInvalid, "the answer is not JSON");
  return document;
}

std::string TextOf(Value value) {
  std::string text;
  if (!value.absent()) json::AppendValue(text, value);
  return text;
}

}  // namespace

std::string WriteTokenReview(std::string_view token, std::string_view audience) {
  Writer out;
  out.BeginObject();
  out.Key("apiVersion");
  out.Text("authentication.k8s.io/v1");
  out.Key("kind");
  out.Text("TokenReview");
  out.Key("spec");
  out.BeginObject();
  out.Key("token");
  out.Text(token);
  if (!audience.empty()) {
    out.Key("audiences");
    out.BeginArray();
    out.Text(audience);
    out.EndArray();
  }
  out.EndObject();
  out.EndObject();
  return out.Take();
}

Result<std::optional<TokenUser>> ReadTokenReview(std::string_view text, std::string_view audience) {
  const Result<Document> document = ParseSecret(text);
  if (!document) return Fail(document.error());
  const Value root = document->root();
  FieldReader fields(root);
  const Value status = fields.Object(fields.Object(root)["status"]);
  const bool authenticated = fields.Truth(status["authenticated"]);
  // An authenticator that does not support audiences returns none, because it has not checked them.
  bool meant = audience.empty();
  fields.Array(status["audiences"]).ForEachElement([&](Value one) {
    meant = meant || fields.Text(one) == audience;
  });
  const Value user = fields.Object(status["user"]);
  TokenUser known{ReadText(fields, user["username"]), ReadText(fields, user["uid"]),
                  TextOf(fields.Array(user["groups"])), TextOf(fields.Object(user["extra"]))};
  if (!fields.ok()) return Fail(ErrorCode::kInvalid, "the answer is not a TokenReview");
  if (!authenticated || !meant || known.name.empty()) return std::optional<TokenUser>();
  return known;
}

std::string WritePathReview(const TokenUser& user, std::string_view path) {
  Writer out;
  out.BeginObject();
  out.Key("apiVersion");
  out.Text("authorization.k8s.io/v1");
  out.Key("kind");
  out.Text("SubjectAccessReview");
  out.Key("spec");
  out.BeginObject();
  out.Key("user");
  out.Text(user.name);
  if (!user.uid.empty()) {
    out.Key("uid");
    out.Text(user.uid);
  }
  if (!user.groups.empty()) {
    out.Key("groups");
    out.Raw(user.groups);
  }
  if (!user.extra.empty()) {
    out.Key("extra");
    out.Raw(user.extra);
  }
  out.Key("nonResourceAttributes");
  out.BeginObject();
  out.Key("path");
  out.Text(path);
  out.Key("verb");
  out.Text("get");
  out.EndObject();
  out.EndObject();
  out.EndObject();
  return out.Take();
}

Result<bool> ReadPathReview(std::string_view text) {
  const Result<Document> document = Document::Parse(text);
  if (!document) return Fail(document.error());
  const Value root = document->root();
  FieldReader fields(root);
  const Value status = fields.Object(fields.Object(root)["status"]);
  const bool allowed = fields.Truth(status["allowed"]) && !fields.Truth(status["denied"]);
  if (!fields.ok()) return Fail(ErrorCode::kInvalid, fields.findings().front());
  return allowed;
}

std::string WriteTokenRequest(std::string_view audience, std::chrono::seconds validity) {
  std::string out =
      R"({"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{"audiences":[)";
  AppendJsonString(out, audience);
  return out + fmt::format(R"(],"expirationSeconds":{}}}}})", validity.count());
}

Result<std::string> ReadRequestedToken(std::string_view text) {
  const Result<Document> document = ParseSecret(text);
  if (!document) return Fail(document.error());
  const Value root = document->root();
  FieldReader fields(root);
  std::string token = ReadText(fields, fields.Object(fields.Object(root)["status"])["token"]);
  if (!fields.ok() || token.empty())
    return Fail(ErrorCode::kInvalid, "the answer to the TokenRequest has no token");
  return token;
}

std::string WriteExecInfo(const std::string& api_version, bool interactive) {
  std::string out = R"({"apiVersion":)";
  AppendJsonString(out, api_version);
  return out +
         fmt::format(R"(,"kind":"ExecCredential","spec":{{"interactive":{}}}}})", interactive);
}

Result<ExecCredential> ReadExecCredential(std::string_view text) {
  const Result<Document> document = Document::Parse(text);
  // Drop the parser's message, which may quote the text, and with it a secret.
  if (!document) return Fail(ErrorCode::kInvalid, "is not JSON");
  const Value root = document->root();
  FieldReader fields(root);
  const Value status = fields.Object(fields.Object(root)["status"]);
  ExecCredential credential{ReadText(fields, status["token"]),
                            ReadText(fields, status["clientCertificateData"]),
                            ReadText(fields, status["clientKeyData"])};
  if (!fields.ok()) return Fail(ErrorCode::kInvalid, fields.findings().front());
  if (credential.certificate_pem.empty() != credential.key_pem.empty()) {
    return Fail(ErrorCode::kInvalid, "has only one of clientCertificateData and clientKeyData");
  }
  if (credential.token.empty() && credential.key_pem.empty()) {
    return Fail(ErrorCode::kInvalid, "has neither a token nor a certificate");
  }
  return credential;
}

}  // namespace synergy::wire
