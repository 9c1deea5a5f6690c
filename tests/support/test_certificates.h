#pragma once

// Makes certificates at run time, so that no test contains a certificate that expires.
//
// Threading: values, except the authority: one owner at a time.

#include <memory>
#include <string>
#include <vector>

struct evp_pkey_st;
struct x509_st;

namespace synergy::testing {

struct TestCertificate {
  std::string certificate_pem;
  std::string key_pem;
};

class TestAuthority {
 public:
  explicit TestAuthority(const std::string& name = "test authority");
  ~TestAuthority();

  const std::string& certificate_pem() const { return certificate_pem_; }

  // Returns a certificate signed by this authority. `alternative_names` in OpenSSL's notation:
  // "DNS:localhost", "IP:127.0.0.1".
  TestCertificate Issue(const std::string& common_name,
                        const std::vector<std::string>& alternative_names = {
                            "IP:127.0.0.1", "DNS:localhost"}) const;

 private:
  std::shared_ptr<evp_pkey_st> key_;
  std::shared_ptr<x509_st> certificate_;
  std::string certificate_pem_;
};

}  // namespace synergy::testing
