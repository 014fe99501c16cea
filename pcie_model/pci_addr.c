#include "pci_addr.h"
