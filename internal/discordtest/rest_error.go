package discordtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// apiError is a refusal as Discord words it: {code, message, errors}.
type apiError struct {
	Status  int    `json:"-"`
	Code    int    `json:"code"`
	Message string `json:"message"`
	Errors  any    `json:"errors,omitempty"`
}

func (e *apiError) Error() string {
	return fmt.Sprintf("HTTP %d, code %d: %s", e.Status, e.Code, e.Message)
}

func refuse(status, code int, message string) *apiError {
	return &apiError{Status: status, Code: code, Message: message}
}

// Refusals that several routes share. The numbers are Discord's.
var (
	errUnauthorized     = refuse(http.StatusUnauthorized, 0, "401: Unauthorized")
	errNotFound         = refuse(http.StatusNotFound, 0, "404: Not Found")
	errUnknownApp       = refuse(http.StatusNotFound, 10002, "Unknown Application")
	errUnknownChannel   = refuse(http.StatusNotFound, 10003, "Unknown Channel")
	errUnknownGuild     = refuse(http.StatusNotFound, 10004, "Unknown Guild")
	errUnknownMember    = refuse(http.StatusNotFound, 10007, "Unknown Member")
	errUnknownMessage   = refuse(http.StatusNotFound, 10008, "Unknown Message")
	errUnknownUser      = refuse(http.StatusNotFound, 10013, "Unknown User")
	errUnknownEmoji     = refuse(http.StatusBadRequest, 10014, "Unknown Emoji")
	errUnknownWebhook   = refuse(http.StatusNotFound, 10015, "Unknown Webhook")
	errUnknownInteract  = refuse(http.StatusNotFound, 10062, "Unknown interaction")
	errUnknownCommand   = refuse(http.StatusNotFound, 10063, "Unknown application command")
	errForbiddenAction  = refuse(http.StatusForbidden, 20012, "You are not authorized to perform this action on this application")
	errTooLarge         = refuse(http.StatusRequestEntityTooLarge, 40005, "Request entity too large")
	errAlreadyAnswered  = refuse(http.StatusBadRequest, 40060, "Interaction has already been acknowledged.")
	errMissingAccess    = refuse(http.StatusForbidden, 50001, "Missing Access")
	errNotYourMessage   = refuse(http.StatusForbidden, 50005, "Cannot edit a message authored by another user")
	errEmptyMessage     = refuse(http.StatusBadRequest, 50006, "Cannot send an empty message")
	errCannotDM         = refuse(http.StatusForbidden, 50007, "Cannot send messages to this user")
	errMissingPerms     = refuse(http.StatusForbidden, 50013, "Missing Permissions")
	errInvalidWebhook   = refuse(http.StatusUnauthorized, 50027, "Invalid Webhook Token")
	errInvalidJSON      = refuse(http.StatusBadRequest, 50109, "The request body contains invalid JSON.")
	errNoHistoryToReply = refuse(http.StatusBadRequest, 160002, "Cannot reply without permission to read message history")
)

// formErrors collects what is wrong with a body, field by field, and becomes
// one refusal with code 50035. Paths are dotted, with indexes: "embeds.0.title".
type formErrors struct{ root map[string]any }

func (f *formErrors) add(path, code, message string) {
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

func (f *formErrors) err() error {
	if f.root == nil {
		return nil
	}
	return &apiError{Status: http.StatusBadRequest, Code: 50035, Message: "Invalid Form Body", Errors: f.root}
}

func formError(path, code, message string) error {
	var f formErrors
	f.add(path, code, message)
	return f.err()
}

// required, length and count are the complaints Discord has most often.
func (f *formErrors) required(path string) {
	f.add(path, "BASE_TYPE_REQUIRED", "This field is required")
}

func (f *formErrors) length(path, text string, least, most int) {
	n := len([]rune(text))
	switch {
	case n < least && n == 0:
		f.required(path)
	case n < least || n > most && least > 0:
		f.add(path, "BASE_TYPE_BAD_LENGTH", fmt.Sprintf("Must be between %d and %d in length.", least, most))
	case n > most:
		f.add(path, "BASE_TYPE_MAX_LENGTH", fmt.Sprintf("Must be %d or fewer in length.", most))
	}
}

func (f *formErrors) count(path string, n, least, most int) {
	if n < least || n > most {
		f.add(path, "BASE_TYPE_BAD_LENGTH", fmt.Sprintf("Must be between %d and %d in length.", least, most))
	}
}

func at(path string, index int, more ...string) string {
	return strings.Join(append([]string{path, strconv.Itoa(index)}, more...), ".")
}

// decode reads JSON as Discord does: unknown fields pass, wrong types do not.
func decode(body []byte, into any) error {
	err := json.Unmarshal(body, into)
	var wrong *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &wrong):
		return formError(wrong.Field, "BASE_TYPE_CONVERT", fmt.Sprintf("Value of type %s is not %s.", wrong.Value, wrong.Type))
	case json.Valid(body):
		return formError("", "BASE_TYPE_CONVERT", err.Error())
	default:
		return errInvalidJSON
	}
}
