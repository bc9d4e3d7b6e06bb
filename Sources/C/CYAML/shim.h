// libyaml. Only the target `Settings` imports this.
#pragma once
#include <yaml.h>
