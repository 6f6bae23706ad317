package route

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"clank/browsermgr/control/body"
	"clank/browsermgr/control/reply"
)

// maxBody bounds what a request carries, in bytes.
const maxBody = 1 << 20

type bodyKey struct{}

// ReadBody reads the JSON body of a request before anybody judges it. What is not declared to be JSON is left aside.
func ReadBody(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fields, err := decodeBody(w, r)
		if err != nil {
			reply.Error(w, err)
			return
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), bodyKey{}, fields)))
	})
}

func decodeBody(w http.ResponseWriter, r *http.Request) (*body.Fields, error) {
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(reply.IOLimit))
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, &reply.StatusError{Status: http.StatusRequestEntityTooLarge, Err: errors.New("the body is larger than 1 MB")}
	}
	if err != nil {
		return nil, &reply.StatusError{Status: http.StatusBadRequest, Err: errors.New("the body did not arrive whole")}
	}
	// From here on the connection is only watched for its end.
	_ = control.SetReadDeadline(time.Time{})
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	if kind = strings.ToLower(strings.TrimSpace(kind)); kind != "" && kind != "application/json" && !strings.HasSuffix(kind, "+json") {
		return body.New(nil), nil
	}
	return body.Decode(data)
}

// bodyOf is what ReadBody has read.
func bodyOf(r *http.Request) *body.Fields {
	if fields, ok := r.Context().Value(bodyKey{}).(*body.Fields); ok {
		return fields
	}
	return body.New(nil)
}
