# shellcheck shell=bash
# The cluster's certificate authority, certificates and kubeconfigs. Keys use elliptic curves,
# because they are generated quickly.

make_authority() {
  new_key "$STATE/pki/ca.key"
  openssl req -x509 -new -key "$STATE/pki/ca.key" -out "$STATE/pki/ca.crt" -days 365 -subj /CN=synergy-test-cluster
  new_key "$STATE/pki/service-account.key"
}

# The key has the form of SEC 1: for service accounts, kube-apiserver reads no other form of an
# elliptic curve key.
new_key() {
  openssl ecparam -name prime256v1 -genkey -noout -out "$1"
}

# make_certificate NAME SUBJECT [SUBJECT_ALTERNATIVE_NAMES]: makes a key and a certificate of the
# cluster's authority.
make_certificate() {
  local pki=$STATE/pki
  new_key "$pki/$1.key"
  openssl req -new -key "$pki/$1.key" -subj "$2" |
    openssl x509 -req -CA "$pki/ca.crt" -CAkey "$pki/ca.key" -set_serial "0x$(openssl rand -hex 8)" -days 365 \
      -out "$pki/$1.crt" -extfile <(
        printf 'keyUsage=digitalSignature\nextendedKeyUsage=serverAuth,clientAuth\n'
        [[ -z ${3-} ]] || printf 'subjectAltName=%s\n' "$3"
      ) 2>>"$STATE/logs/pki.log"
}

# make_user NAME SUBJECT: makes a client certificate, and $STATE/NAME.kubeconfig, which uses it.
make_user() {
  make_certificate "$1" "$2"
  make_kubeconfig "$1"
}

make_kubeconfig() {
  cat >"$STATE/$1.kubeconfig" <<E_O_F
apiVersion: v1
kind: Config
clusters:
- name: test
  cluster:
    server: $API
    certificate-authority: $STATE/pki/ca.crt
users:
- name: $1
  user:
    client-certificate: $STATE/pki/$1.crt
    client-key: $STATE/pki/$1.key
contexts:
- name: test
  context:
    cluster: test
    user: $1
current-context: test
E_O_F
}

make_pki() {
  make_authority
  make_certificate kube-apiserver /CN=kube-apiserver \
    DNS:localhost,DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc,IP:127.0.0.1,"IP:10.96.0.1,IP:$API_ADDRESS"
  make_certificate kubelet-client /O=system:masters/CN=kube-apiserver-kubelet-client
  make_certificate webhook-client /CN=kube-apiserver DNS:kube-apiserver
  make_user admin /O=system:masters/CN=admin
  make_user kube-controller-manager /CN=system:kube-controller-manager
  make_user kube-scheduler /CN=system:kube-scheduler
  make_user kwok /O=system:masters/CN=kwok
  make_user synergy-extender /CN=synergy-extender
  if [[ -n $SERVICES ]]; then make_user kube-proxy /CN=system:kube-proxy; fi
}
