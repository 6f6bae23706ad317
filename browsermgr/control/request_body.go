package control

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"
)

// maxBodyBytes bounds what a request carries, in bytes.
const maxBodyBytes = 1 << 20

type bodyKey struct{}

// ReadJSONBody reads the JSON body of a request before anybody judges it. What is not declared to be JSON is left aside.
func ReadJSONBody(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fields, err := decodeBody(w, r)
		if err != nil {
			WriteError(w, err)
			return
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), bodyKey{}, fields)))
	})
}

func decodeBody(w http.ResponseWriter, r *http.Request) (*RequestFields, error) {
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(ioTimeout))
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBodyBytes))
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, &StatusError{Status: http.StatusRequestEntityTooLarge, Err: errors.New("the body is larger than 1 MB")}
	}
	if err != nil {
		return nil, &StatusError{Status: http.StatusBadRequest, Err: errors.New("the body did not arrive whole")}
	}
	// From here on the connection is only watched for its end.
	_ = control.SetReadDeadline(time.Time{})
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	if kind = strings.ToLower(strings.TrimSpace(kind)); kind != "" && kind != "application/json" && !strings.HasSuffix(kind, "+json") {
		return newFields(nil), nil
	}
	return DecodeFields(data)
}

// requestBody returns what ReadJSONBody has read.
func requestBody(r *http.Request) *RequestFields {
	if fields, ok := r.Context().Value(bodyKey{}).(*RequestFields); ok {
		return fields
	}
	return newFields(nil)
}
