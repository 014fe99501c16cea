/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of fields: the members that they fill, and all errors of a text at once. What a text must not have is in
 * test_topology_errors.c. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_test.h"
#include "pcie_model/yaml_fields.h"

struct dog {
	const char *name;
};

struct kennel {
	const char *name, *owner;
	const char **colours;
	struct dog *dogs, *guard;
	uint32_t num_colours, num_dogs, num_entries;
	size_t owner_line, guard_line;
};

static int count_entry(struct pcie_yaml_doc *doc, const struct pcie_yaml_node *node, void *to)
{
	((struct kennel *)to)->num_entries += node->type == PCIE_YAML_SCALAR;
	return 0;
}

static int check_dog(struct pcie_yaml_doc *doc, const struct pcie_yaml_node *node, void *to)
{
	return strcmp(((struct dog *)to)->name, "cat") == 0 ? pcie_yaml_error(doc, node, "is no dog") : 0;
}

static const struct pcie_yaml_field dog_fields[] = {
	PCIE_YAML_FIELD("name", TEXT, dog, name, .is_required = true),
	{ 0 },
};

#define DOG .fields = dog_fields, .size = sizeof(struct dog), .read = check_dog

static const struct pcie_yaml_field kennel_fields[] = {
	PCIE_YAML_FIELD("name", VALUE, kennel, name),
	PCIE_YAML_FIELD("owner", TEXT, kennel, owner, .line_offset = offsetof(struct kennel, owner_line)),
	PCIE_YAML_LIST_FIELD("colours", VALUES, kennel, colours, num_colours, .max_entries = 2),
	PCIE_YAML_LIST_FIELD("dogs", STRUCTS, kennel, dogs, num_dogs, DOG),
	PCIE_YAML_FIELD("guard", STRUCT, kennel, guard, .line_offset = offsetof(struct kennel, guard_line), DOG),
	{ "entries", PCIE_YAML_ENTRIES, .read = count_entry },
	{ 0 },
};

static int read_kennel(struct pcie_yaml_doc *doc, const char *text, struct kennel *ret_kennel)
{
	int rc;

	doc->name = "kennel.yaml";
	doc->needs = "the fields of a kennel";
	doc->text = text;
	doc->len = strlen(text);
	*ret_kennel = (struct kennel){ 0 };
	rc = pcie_yaml_load(doc);
	return rc ? rc : pcie_yaml_read_root(doc, kennel_fields, ret_kennel);
}

static void test_each_kind_fills_its_member(void **state)
{
	struct pcie_yaml_doc doc = { 0 };
	struct kennel kennel;

	assert_int_equal(read_kennel(&doc,
				     "name: \"\"\nowner: me\ncolours: [red, \"\"]\ndogs:\n- {name: a}\n- {name: b}\n"
				     "guard:\n  name: c\nentries: [1, [2], 3]\n",
				     &kennel),
			 0);
	assert_string_equal(kennel.name, "");
	assert_string_equal(kennel.owner, "me");
	assert_int_equal(kennel.owner_line, 2);
	assert_int_equal(kennel.num_colours, 2);
	assert_string_equal(kennel.colours[0], "red");
	assert_int_equal(kennel.num_dogs, 2);
	assert_string_equal(kennel.dogs[1].name, "b");
	assert_string_equal(kennel.guard->name, "c");
	assert_int_equal(kennel.guard_line, 7);
	assert_int_equal(kennel.num_entries, 2);
	pcie_yaml_unload(&doc);
	assert_int_equal(read_kennel(&doc, "colours: []\n", &kennel), 0);
	assert_non_null(kennel.colours); /* given, and empty */
	assert_null(kennel.dogs);
	pcie_yaml_unload(&doc);
}

static void take_error(void *arg, size_t line, const char *text)
{
	char *all = arg;

	snprintf(all + strlen(all), 1024 - strlen(all), "%zu: %s\n", line, text);
}

static void test_all_errors_are_told_to_who_wants_them(void **state)
{
	char all[1024] = "";
	struct pcie_yaml_doc doc = { .on_error = take_error, .arg = all };
	struct kennel kennel;

	assert_int_equal(read_kennel(&doc,
				     "nmae: x\nowner: \" \"\nowner: x\ncolours: [a, b, c]\n"
				     "dogs: [{name: cat}, 1, {}]\nguard: {name: dog}\nentries: {}\n",
				     &kennel),
			 -EINVAL);
	assert_string_equal(all, "1: nmae: unknown field; did you mean name?\n"
				 "2: owner: expected a text\n"
				 "3: owner: is given twice; remove one\n"
				 "4: colours: has more than 2 entries\n"
				 "5: dogs[0]: is no dog\n"
				 "5: dogs[1]: expected a mapping (\"key: value\" lines)\n"
				 "5: dogs[2].name: is missing; this field is required\n"
				 "7: entries: expected a list ([a, b] or \"- a\" lines)\n");
	assert_string_equal(kennel.guard->name, "dog");
	pcie_yaml_unload(&doc);
}

/* A million bytes of "1," would be half a million nodes. */
static void test_too_many_values_are_refused(void **state)
{
	char error[256], *text = malloc(PCIE_YAML_MAX_BYTES);
	struct pcie_yaml_doc doc = { .error = error, .error_size = sizeof(error) };
	struct kennel kennel;

	assert_non_null(text);
	strcpy(text, "entries: [");
	for (size_t i = strlen(text); i < PCIE_YAML_MAX_BYTES - 4; i += 2)
		strcpy(text + i, "1,");
	strcat(text, "]");
	assert_int_equal(read_kennel(&doc, text, &kennel), -EINVAL);
	assert_non_null(strstr(error, ": the file has more than 262144 values"));
	pcie_yaml_unload(&doc);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_kind_fills_its_member),
		cmocka_unit_test(test_all_errors_are_told_to_who_wants_them),
		cmocka_unit_test(test_too_many_values_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
