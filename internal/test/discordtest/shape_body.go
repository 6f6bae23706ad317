package discordtest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"regexp"
	"strconv"
)

// UploadedFile is one file of a multipart request.
type UploadedFile struct {
	Field, Name, ContentType string
	Data                     []byte
}

// maxFileSize is what Discord takes from an account without a subscription.
const maxFileSize = 10 << 20

// fileField matches the names of file parts; "file" is the old form.
var fileField = regexp.MustCompile(`^files?\[\d+\]$|^file\d*$`)

// Parse takes the body apart: JSON, or multipart with payload_json and files.
func (c *RESTCall) Parse(raw []byte) error {
	if len(raw) == 0 {
		c.Body = []byte("{}")
		return nil
	}
	kind, params, err := mime.ParseMediaType(c.Header.Get("Content-Type"))
	switch {
	case err != nil:
		return FormError("", "CONTENT_TYPE_INVALID", "Expected Content-Type header to be one of {'application/json'}.")
	case kind == "application/json":
		c.Body = raw
		return nil
	case kind == "multipart/form-data":
		return c.parseParts(multipart.NewReader(bytes.NewReader(raw), params["boundary"]))
	default:
		return FormError("", "CONTENT_TYPE_INVALID", "Expected Content-Type header to be one of {'application/json'}.")
	}
}

func (c *RESTCall) parseParts(parts *multipart.Reader) error {
	c.Body = []byte("{}")
	for {
		p, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return FormError("", "MULTIPART_INVALID", fmt.Sprintf("The body is not well-formed multipart: %v.", err))
		}
		data, err := io.ReadAll(p)
		if err != nil {
			return FormError("", "MULTIPART_INVALID", fmt.Sprintf("The body is not well-formed multipart: %v.", err))
		}
		switch {
		case p.FormName() == "payload_json":
			c.Body = data
		case p.FileName() != "" && fileField.MatchString(p.FormName()):
			if len(data) > maxFileSize {
				return ErrTooLarge
			}
			c.Files = append(c.Files, UploadedFile{p.FormName(), p.FileName(), p.Header.Get("Content-Type"), data})
		}
	}
}

// SnowflakeNumber reads an id; 0 if it is none.
func SnowflakeNumber(id string) int64 {
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return 0
	}
	return n
}
