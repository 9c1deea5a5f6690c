// Command apistub stands in for an API server: over plain HTTP it lists and watches the nodes, pods
// and other objects of an invented cluster that our programs read, and binds pods. It stores every
// object as the bytes to send, so it takes as little processor time as possible from the measured
// client.
//
// It prints "listening ADDRESS" when it is ready, and can write a kubeconfig file for itself.
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:0", "address to listen on")
	nodes := flag.Int("nodes", 100, "number of nodes; each has four bound GPU pods")
	services := flag.Int("services", 0, "number of bound pods without GPUs on each node")
	pagePause := flag.Duration("page-pause", 0, "how long a page of a list takes beyond its bytes")
	kubeconfig := flag.String("kubeconfig", "", "write a kubeconfig file here")
	flag.Parse()

	listener, err := net.Listen("tcp", *listen)
	if err != nil {
		log.Fatal(err)
	}
	if *kubeconfig != "" {
		if err := os.WriteFile(*kubeconfig, []byte(kubeconfigFor("http://"+listener.Addr().String())), 0o600); err != nil {
			log.Fatal(err)
		}
	}
	server := newServer(*nodes, *services)
	server.pagePause = *pagePause
	go server.churn()
	fmt.Println("listening", listener.Addr())
	log.Fatal(http.Serve(listener, server.handler()))
}

func kubeconfigFor(url string) string {
	return fmt.Sprintf(`apiVersion: v1
kind: Config
clusters:
- name: stub
  cluster:
    server: %s
users:
- name: stub
  user: {}
contexts:
- name: stub
  context:
    cluster: stub
    user: stub
current-context: stub
`, url)
}
