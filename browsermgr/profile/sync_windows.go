package profile

import "os"

// syncFiles does nothing: only an administrator may have a whole disk written here.
func syncFiles(*os.File) error { return nil }
