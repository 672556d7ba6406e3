//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package eventlog

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// folderLock keeps other processes out of the folder. It ends with the process,
// however that ends.
type folderLock struct{ file *os.File }

func lockFolder(folder string) (*folderLock, error) {
	f, err := os.OpenFile(filepath.Join(folder, lockName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the lock of the log of conversations: %w", err)
	}
	switch err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); {
	case errors.Is(err, syscall.EWOULDBLOCK):
		_ = f.Close()
		return nil, fmt.Errorf("the log of conversations in %s is in use by another process", folder)
	case err != nil:
		_ = f.Close()
		return nil, fmt.Errorf("locking the log of conversations in %s: %w", folder, err)
	}
	return &folderLock{f}, nil
}

func (l *folderLock) release() { _ = l.file.Close() }
