#include "ofi.h"
