// Package vault keeps logins for pages, so that a model can have them used without knowing them.
//
// An entry is a user name, a password and perhaps the secret of a one-time code, bound to exact origins. Entries lie in one
// file, each encrypted with AES-256-GCM under a nonce of its own; its name and origins are in clear text and part of what the
// encryption vouches for, and a seal over the whole list shows when entries were taken out, swapped or put back. The key
// lies in the keyring of the operating system, in a file beside the vault, or comes from the environment; [Vault.Status]
// says where.
//
// The package also takes secrets out of text ([Vault.Scrub]): those that were revealed since the start, in the spellings
// that pages and protocols use. It does not speak to browsers, and it does not know who asks: that is for its callers.
package vault
