// Package review asks synergy-controller to review pods, as an API server does.
package review

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"synergy.io/synergy/tests/bench/internal/fixture"
)

// Ask sends a review and returns how long the whole answer took. The answer has to admit the pod,
// with a patch and without a warning.
func Ask(client *http.Client, url string, body []byte) (time.Duration, error) {
	started := time.Now()
	response, err := client.Post(url, "application/json", bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	took := time.Since(started)
	if err != nil {
		return 0, err
	}
	return took, verify(answer)
}

func verify(answer []byte) error {
	review := &admissionv1.AdmissionReview{}
	if err := json.Unmarshal(answer, review); err != nil {
		return fmt.Errorf("%w: %.200s", err, answer)
	}
	if !review.Response.Allowed || len(review.Response.Patch) < 100 || len(review.Response.Warnings) > 0 {
		return fmt.Errorf("not what was expected, warnings %q: %.400s", review.Response.Warnings, answer)
	}
	return nil
}

// Body returns the review of a GPU pod. A selective pod may use only a third of the nodes.
func Body(index int, selective bool) []byte {
	pod := fixture.IncomingPod(index)
	pod.Spec.SchedulerName = v1.DefaultSchedulerName
	pod.Spec.Containers[0].Resources = v1.ResourceRequirements{Limits: pod.Spec.Containers[0].Resources.Limits}
	delete(pod.Spec.Containers[0].Resources.Limits, v1.ResourceMemory)
	if selective {
		pod.Spec.NodeSelector = map[string]string{"topology.kubernetes.io/zone": fmt.Sprintf("region-1-%c", 'a'+index%3)}
	}
	encoded, err := json.Marshal(pod)
	if err != nil {
		panic(err)
	}
	review := &admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: "admission.k8s.io/v1", Kind: "AdmissionReview"},
		Request: &admissionv1.AdmissionRequest{
			UID: types.UID(fmt.Sprintf("%032d", index)), Operation: admissionv1.Create, Namespace: pod.Namespace,
			Object: runtime.RawExtension{Raw: encoded},
		},
	}
	body, err := json.Marshal(review)
	if err != nil {
		panic(err)
	}
	return body
}
