package discordtest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"regexp"
)

// upload is one file of a multipart request.
type upload struct {
	field, name, contentType string
	data                     []byte
}

// largestFile is what Discord takes from an account without a subscription.
const largestFile = 10 << 20

// fileField matches the names of file parts; "file" is the old form.
var fileField = regexp.MustCompile(`^files?\[\d+\]$|^file\d*$`)

// parse takes the body apart: JSON, or multipart with payload_json and files.
func (c *call) parse(raw []byte) error {
	if len(raw) == 0 {
		c.body = []byte("{}")
		return nil
	}
	kind, params, err := mime.ParseMediaType(c.Header.Get("Content-Type"))
	switch {
	case err != nil:
		return formError("", "CONTENT_TYPE_INVALID", "Expected Content-Type header to be one of {'application/json'}.")
	case kind == "application/json":
		c.body = raw
		return nil
	case kind == "multipart/form-data":
		return c.parseParts(multipart.NewReader(bytes.NewReader(raw), params["boundary"]))
	default:
		return formError("", "CONTENT_TYPE_INVALID", "Expected Content-Type header to be one of {'application/json'}.")
	}
}

func (c *call) parseParts(parts *multipart.Reader) error {
	c.body = []byte("{}")
	for {
		p, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return formError("", "MULTIPART_INVALID", fmt.Sprintf("The body is not well-formed multipart: %v.", err))
		}
		data, err := io.ReadAll(p)
		if err != nil {
			return formError("", "MULTIPART_INVALID", fmt.Sprintf("The body is not well-formed multipart: %v.", err))
		}
		switch {
		case p.FormName() == "payload_json":
			c.body = data
		case p.FileName() != "" && fileField.MatchString(p.FormName()):
			if len(data) > largestFile {
				return errTooLarge
			}
			c.files = append(c.files, upload{p.FormName(), p.FileName(), p.Header.Get("Content-Type"), data})
		}
	}
}
