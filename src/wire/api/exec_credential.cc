#include "wire/api/exec_credential.h"

#include <fmt/format.h>

#include "wire/base/json_words.h"
#include "wire/base/metadata.h"
#include "wire/objects/objects.h"

namespace synergy::wire {

std::string WriteExecInfo(const std::string& api_version, bool interactive) {
  std::string out = R"({"apiVersion":)";
  AppendJsonString(out, api_version);
  return out +
         fmt::format(R"(,"kind":"ExecCredential","spec":{{"interactive":{}}}}})", interactive);
}

Result<ExecCredential> ReadExecCredential(std::string_view text) {
  const Result<Document> document = Document::Parse(text);
  // Drop the parser's message, which may quote the text, a secret.
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
