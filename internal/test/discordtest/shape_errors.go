package discordtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// APIError is a refusal as Discord words it: {code, message, errors}.
type APIError struct {
	Status  int    `json:"-"`
	Code    int    `json:"code"`
	Message string `json:"message"`
	Errors  any    `json:"errors,omitempty"`
}

func (e *APIError) Error() string {
	return fmt.Sprintf("HTTP %d, code %d: %s", e.Status, e.Code, e.Message)
}

// Refuse makes an error of the API.
func Refuse(status, code int, message string) *APIError {
	return &APIError{Status: status, Code: code, Message: message}
}

// Refusals that several routes share. The numbers are Discord's.
var (
	ErrUnauthorized     = Refuse(http.StatusUnauthorized, 0, "401: Unauthorized")
	ErrNotFound         = Refuse(http.StatusNotFound, 0, "404: Not Found")
	ErrUnknownApp       = Refuse(http.StatusNotFound, 10002, "Unknown Application")
	ErrUnknownChannel   = Refuse(http.StatusNotFound, 10003, "Unknown Channel")
	ErrUnknownGuild     = Refuse(http.StatusNotFound, 10004, "Unknown Guild")
	ErrUnknownMember    = Refuse(http.StatusNotFound, 10007, "Unknown Member")
	ErrUnknownMessage   = Refuse(http.StatusNotFound, 10008, "Unknown Message")
	ErrUnknownWebhook   = Refuse(http.StatusNotFound, 10015, "Unknown Webhook")
	ErrUnknownInteract  = Refuse(http.StatusNotFound, 10062, "Unknown interaction")
	ErrForbiddenAction  = Refuse(http.StatusForbidden, 20012, "You are not authorized to perform this action on this application")
	ErrTooLarge         = Refuse(http.StatusRequestEntityTooLarge, 40005, "Request entity too large")
	ErrAlreadyAnswered  = Refuse(http.StatusBadRequest, 40060, "Interaction has already been acknowledged.")
	ErrMissingAccess    = Refuse(http.StatusForbidden, 50001, "Missing Access")
	ErrNotYourMessage   = Refuse(http.StatusForbidden, 50005, "Cannot edit a message authored by another user")
	ErrEmptyMessage     = Refuse(http.StatusBadRequest, 50006, "Cannot send an empty message")
	ErrCannotDM         = Refuse(http.StatusForbidden, 50007, "Cannot send messages to this user")
	ErrMissingPerms     = Refuse(http.StatusForbidden, 50013, "Missing Permissions")
	ErrInvalidWebhook   = Refuse(http.StatusUnauthorized, 50027, "Invalid Webhook Token")
	ErrInvalidJSON      = Refuse(http.StatusBadRequest, 50109, "The request body contains invalid JSON.")
	ErrNoHistoryToReply = Refuse(http.StatusBadRequest, 160002, "Cannot reply without permission to read message history")
)

// FormErrors collects what is wrong with a body, field by field, and becomes
// one refusal with code 50035. Paths are dotted, with indexes: "embeds.0.title".
type FormErrors struct{ root map[string]any }

// Add notes what is wrong at a path, "embeds.0.title".
func (f *FormErrors) Add(path, code, message string) {
	if f.root == nil {
		f.root = map[string]any{}
	}
	at := f.root
	if path != "" {
		for step := range strings.SplitSeq(path, ".") {
			next, ok := at[step].(map[string]any)
			if !ok {
				next = map[string]any{}
				at[step] = next
			}
			at = next
		}
	}
	list, _ := at["_errors"].([]map[string]string)
	at["_errors"] = append(list, map[string]string{"code": code, "message": message})
}

// Err returns the refusal, nil if nothing is wrong.
func (f *FormErrors) Err() error {
	if f.root == nil {
		return nil
	}
	return &APIError{Status: http.StatusBadRequest, Code: 50035, Message: "Invalid Form Body", Errors: f.root}
}

// FormError refuses a body that is wrong in one place.
func FormError(path, code, message string) error {
	var f FormErrors
	f.Add(path, code, message)
	return f.Err()
}

// required, length and count are the complaints Discord has most often.
func (f *FormErrors) required(path string) {
	f.Add(path, "BASE_TYPE_REQUIRED", "This field is required")
}

// Length holds a text to its bounds, in characters.
func (f *FormErrors) Length(path, text string, least, most int) {
	n := len([]rune(text))
	switch {
	case n < least && n == 0:
		f.required(path)
	case n < least || n > most && least > 0:
		f.Add(path, "BASE_TYPE_BAD_LENGTH", fmt.Sprintf("Must be between %d and %d in length.", least, most))
	case n > most:
		f.Add(path, "BASE_TYPE_MAX_LENGTH", fmt.Sprintf("Must be %d or fewer in length.", most))
	}
}

// Count holds a list to its bounds.
func (f *FormErrors) Count(path string, n, least, most int) {
	if n < least || n > most {
		f.Add(path, "BASE_TYPE_BAD_LENGTH", fmt.Sprintf("Must be between %d and %d in length.", least, most))
	}
}

// ErrorPath returns the path of an element of a list, and of what is in it.
func ErrorPath(path string, index int, more ...string) string {
	return strings.Join(append([]string{path, strconv.Itoa(index)}, more...), ".")
}

// DecodeBody reads JSON as Discord does: unknown fields pass, wrong types do not.
func DecodeBody(body []byte, into any) error {
	err := json.Unmarshal(body, into)
	var wrong *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &wrong):
		return FormError(wrong.Field, "BASE_TYPE_CONVERT", fmt.Sprintf("Value of type %s is not %s.", wrong.Value, wrong.Type))
	case json.Valid(body):
		return FormError("", "BASE_TYPE_CONVERT", err.Error())
	default:
		return ErrInvalidJSON
	}
}
