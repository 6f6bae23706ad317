// Package login fills logins into the pages they are for, and finds the areas that pictures of those pages must not
// show.
//
// A secret is passed to an isolated world of one document, after Chromium reported the frame's origin and the document
// confirmed it. The script checks again when it writes. Fields for new passwords, fields that a person could not see,
// and forms that submit to other origins are refused. Pictures mask a field as long as it has a value, and each piece
// of a password that is spread over fields and texts. While a document contains the secret, it cannot be shown, copied
// or dragged out, and leaving the document clears the field. The package stores no logins and asks nobody.
package login
