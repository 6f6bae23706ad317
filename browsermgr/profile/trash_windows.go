package profile

import (
	"context"
	"fmt"
	"unsafe"

	"golang.org/x/sys/windows"
)

// fileOperation is SHFILEOPSTRUCTW on 64-bit systems.
type fileOperation struct {
	window        windows.HWND
	function      uint32
	from, to      *uint16
	flags         uint16
	aborted       int32
	mappings      uintptr
	progressTitle *uint16
}

var shFileOperation = windows.NewLazySystemDLL("shell32.dll").NewProc("SHFileOperationW")

// moveToTrash makes the shell move the folder to the recycle bin, which does not report the new path.
func moveToTrash(_ context.Context, path, _ string) (string, error) {
	from, err := windows.UTF16FromString(path)
	if err != nil {
		return "", err
	}
	from = append(from, 0) // the list of paths ends with an empty string
	const deleteFiles, silent, noConfirmation, allowUndo, noErrorUI = 3, 0x4, 0x10, 0x40, 0x400
	op := fileOperation{function: deleteFiles, from: &from[0], flags: silent | noConfirmation | allowUndo | noErrorUI}
	if code, _, _ := shFileOperation.Call(uintptr(unsafe.Pointer(&op))); code != 0 || op.aborted != 0 {
		return "", fmt.Errorf("the recycle bin does not take it (%#x)", code)
	}
	return "", nil
}
