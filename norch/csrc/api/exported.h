// What the library shows to Python, under its plain name.

#pragma once

#define API extern "C" __attribute__((visibility("default")))
