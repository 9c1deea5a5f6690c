#pragma once

// Makes the names of src/json that this folder uses everywhere available without their prefix.
// Private to this folder.
//
// Threading: declarations.

#include "json/document.h"
#include "json/field_reader.h"
#include "json/json_patch.h"
#include "json/scanner.h"
#include "json/text.h"
#include "json/writer.h"

namespace synergy::wire {

using json::AppendJsonString;
using json::Document;
using json::FieldReader;
using json::JsonPatch;
using json::Quoted;
using json::ReadRules;
using json::Scanner;
using json::Value;
using json::Writer;

}  // namespace synergy::wire
