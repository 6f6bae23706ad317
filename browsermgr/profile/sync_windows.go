package profile

import "os"

// syncFiles does nothing: flushing a volume requires an administrator.
func syncFiles(*os.File) error { return nil }
