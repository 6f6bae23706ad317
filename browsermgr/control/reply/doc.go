// Package reply is what the control API answers: values as JSON, and errors with the status, the code and the stable word
// that clients choose by.
//
// Errors are told apart by the sentinels of the packages below, in one list; nobody reads texts. What is told shows no
// credentials. The package decides nothing about requests.
package reply
